//! Protocol Buffers messages.

use pilaster::unstable::meta::proto::{Message, Value};

/// All of `data` is the message.
pub fn run(data: &[u8]) {
    message(Message::new_at(data, 1 << 40), 0);
}

fn message(message_: Message<'_>, depth: u32) {
    let mut fields = message_.fields();
    let (mut before, mut last) = (fields.at(), [None; 16]);
    let sound = loop {
        match fields.take() {
            Ok(Some((number, value))) => {
                assert!(fields.at() > before, "a field takes bytes");
                before = fields.at();
                if let Some(last) = last.get_mut(number as usize) {
                    *last = Some(value);
                }
                if let Value::Bytes(inner) = value
                    && depth < 4
                {
                    message(inner, depth + 1);
                }
            }
            Ok(None) => break true,
            Err(e) => {
                assert!(e.at() >= message_.at(), "{e:?} lies before the message");
                break false;
            }
        }
    };
    for (number, last) in (0..).zip(last) {
        let field = message_.field(number);
        assert_eq!(field.is_ok(), sound);
        if let Ok(field) = field {
            assert_eq!(field.is_some(), last.is_some());
        }
        let _ = (message_.uint(number), message_.uint32(number), message_.message(number));
        let mut count = 0;
        let _ = message_.uints(number, |_| {
            count += 1;
            Ok(())
        });
        assert!(count <= message_.bytes().len());
    }
}
