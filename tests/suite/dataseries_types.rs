//! Type descriptions: what section 5.1 says is taken, and what is refused.

use pilaster::Result;
use pilaster::bytes::Scratch;
use pilaster::dataseries::Relative;
use pilaster::dataseries::{ExtentType, FieldType};
use pilaster::dataseries::{Ordering, Pad};
use pilaster::error::{Kind, What};
use pilaster::limits::Limits;

fn with<T>(xml: &str, look: impl FnOnce(Result<ExtentType<'_>>) -> T) -> T {
    let mut memory = vec![0x77; 1 << 20];
    look(ExtentType::parse(xml.as_bytes(), &Limits::DEFAULT, &mut Scratch::new(&mut memory)))
}

fn taken(xml: &str) {
    with(xml, |ty| assert!(ty.is_ok(), "{xml}: {ty:?}"));
}

fn refused(xml: &str) -> (Kind, What) {
    with(xml, |ty| match ty {
        Ok(ty) => panic!("{xml}: {ty:?}"),
        Err(e) => (e.kind(), e.what()),
    })
}

/// A type with these fields, and with these attributes of the root.
fn ty(fields: &str, root: &str) -> String {
    format!("<ExtentType name=\"T\" {root}>{fields}</ExtentType>")
}

fn field(attributes: &str) -> String {
    ty(&format!("<field type='int32' name='base'/><field name='f' {attributes}/>"), "")
}

#[test]
fn every_attribute() {
    let xml =
        "<?xml version='1.0'?><ExtentType version='2.17' name='N &amp; M' namespace='a.b' pack_null_compact='non_bool'
        pack_pad_record='max_column_size' pack_field_ordering='big_to_small_sep_var32' other='x'>
        <field name='t' type='int64' pack_relative='t' units='2^-32 seconds' epoch='unix' />
        <field type='int64' name='u' pack_relative='t' opt_nullable='yes'>ignored <x/></field>
        <field type='double' name='d' pack_scale=' 0x1p-2' pack_scale_warn='no' pack_relative='d' opt_doublebase='1e6'/>
        <field type='variable32' name='s&#x21;' pack_unique='yes'/><field type='fixedwidth' size='20' name='w'/>
        <field type='bool' name='b'/><field type='byte' name='y' opt_nullable='no'/></ExtentType>";
    with(xml, |ty| {
        let ty = ty.unwrap();
        assert_eq!((ty.name(), ty.namespace(), ty.version()), ("N & M", "a.b", (2, 17)));
        let options = ty.options();
        assert_eq!((options.compact, options.pad, options.ordering), (true, Pad::MaxColumnSize, Ordering::BigToSmall));
        let all: Vec<_> = ty.fields().map(|f| (f.name, f.ty, f.nullable, f.relative)).collect();
        assert_eq!(all[0], ("t", FieldType::Int64, false, Relative::Own));
        assert_eq!(all[1], ("u", FieldType::Int64, true, Relative::To(0)));
        assert_eq!(all[2], ("d", FieldType::Double, false, Relative::Own));
        assert_eq!(all[3], ("s!", FieldType::Variable32, false, Relative::No));
        assert_eq!(all[4], ("w", FieldType::FixedWidth(20), false, Relative::No));
        let d = ty.field(2).unwrap();
        assert_eq!((d.scale, d.base), (Some(0.25), 1e6));
        assert!(ty.field(3).unwrap().unique);
        assert_eq!((ty.find("s!"), ty.find("s")), (Some(3), None));
        assert_eq!(ty.xml(), xml.as_bytes());
    });
}

#[test]
fn what_is_taken() {
    for xml in [
        "<ExtentType name='T'/>",
        "<x:ExtentType name='T' xmlns:x='u'><x:field type='bool' name='b'/></x:ExtentType>",
        "<ExtentType name='T' namespace=''/>\n<!-- c -->\0",
        " <!-- c --><ExtentType name='T' version='-1.0'/>",
        "\u{feff}<?xml version='1.0' encoding='UTF-8'?><ExtentType name='日本'/>",
        "<!DOCTYPE ExtentType><ExtentType name='T'/>",
        &ty("<field type='bool' name='b'/>", "pack_null_compact='non_bool'"),
        &ty("<field type='int32' name='i' opt_nullable='yes'/>", "pack_null_compact='non_bool'"),
        &field("type='double' pack_scale='-inf'"),
        &field("type='double' pack_scale='nan' pack_scale_warn='yes'"),
        &field("type='double' opt_doublebase='0'"),
        &field("type='int32' pack_relative='base'"),
        &field("type='int32' pack_relative='f'"),
        &field("type='double' pack_relative='f' pack_scale='1'"),
        &field("type='fixedwidth' size='00003' print_style='hex'"),
        &ty(&format!("<field type='bool' name='{}'/>", "n".repeat(255)), ""),
    ] {
        taken(xml);
    }
}

#[test]
fn what_is_refused() {
    use Kind::{Invalid, Overflow, Truncated, Unsupported};
    let long = "n".repeat(256);
    for (xml, kind, what) in [
        ("", Truncated, What::XML_TAG),
        ("<extenttype name='T'/>", Invalid, What::DATASERIES_TYPE),
        ("<ExtentType/>", Invalid, What::DATASERIES_TYPE_NAME),
        ("<ExtentType name=''/>", Invalid, What::DATASERIES_TYPE_NAME),
        (&format!("<ExtentType name='{long}'/>"), Invalid, What::DATASERIES_TYPE_NAME),
        ("<ExtentType name='T' name='T'/>", Invalid, What::XML_ATTRIBUTE),
        ("<ExtentType name='T' version='1'/>", Invalid, What::DATASERIES_TYPE),
        ("<ExtentType name='T' version='1.2.3'/>", Invalid, What::DATASERIES_TYPE),
        ("<ExtentType name='T' version=' 1.2'/>", Invalid, What::DATASERIES_TYPE),
        ("<ExtentType name='T' version=''/>", Invalid, What::DATASERIES_TYPE),
        ("<ExtentType name='T' version='1.99999999999'/>", Invalid, What::DATASERIES_TYPE),
        ("<ExtentType name='T' pack_null_compact='yes'/>", Invalid, What::DATASERIES_TYPE),
        ("<ExtentType name='T' pack_pad_record=''/>", Invalid, What::DATASERIES_TYPE),
        ("<ExtentType name='T' pack_field_ordering='x'/>", Invalid, What::DATASERIES_TYPE),
        ("<ExtentType name='T' pack_other='x'/>", Unsupported, What::DATASERIES_TYPE),
        ("<ExtentType name='T' opt_other='x'/>", Unsupported, What::DATASERIES_TYPE),
        ("<ExtentType name='T' pack_null_compact='non_bool'/>", Invalid, What::DATASERIES_TYPE),
        (&ty("<other/>", ""), Invalid, What::DATASERIES_TYPE),
        (&ty("text", ""), Invalid, What::DATASERIES_TYPE),
        (&ty("<!-- c -->", ""), Invalid, What::DATASERIES_TYPE),
        (&ty("<![CDATA[ ]]>", ""), Invalid, What::DATASERIES_TYPE),
        (&ty("<?p?>", ""), Invalid, What::DATASERIES_TYPE),
        (&ty("<field type='bool'/>", ""), Invalid, What::DATASERIES_FIELD),
        (&ty("<field name='x'/>", ""), Invalid, What::DATASERIES_FIELD),
        (&ty("<field type='bool' name=''/>", ""), Invalid, What::DATASERIES_FIELD),
        (&ty("<field type='bool' name=' x'/>", ""), Invalid, What::DATASERIES_FIELD),
        (&ty(&format!("<field type='bool' name='{long}'/>"), ""), Invalid, What::DATASERIES_FIELD),
        (&ty("<field type='bool' name='x'/><field type='byte' name='&#120;'/>", ""), Invalid, What::DATASERIES_FIELD),
        (&field("type='Bool'"), Invalid, What::DATASERIES_FIELD),
        (&field("type='int32' opt_nullable='true'"), Invalid, What::DATASERIES_FIELD),
        (&field("type='int32' opt_nullable=''"), Invalid, What::DATASERIES_FIELD),
        (&field("type='int32' pack_other='1'"), Unsupported, What::DATASERIES_FIELD),
        (&field("type='int32' size='4'"), Invalid, What::DATASERIES_FIELD),
        (&field("type='fixedwidth'"), Invalid, What::DATASERIES_FIELD),
        (&field("type='fixedwidth' size='0'"), Invalid, What::DATASERIES_FIELD),
        (&field("type='fixedwidth' size='-1'"), Invalid, What::DATASERIES_FIELD),
        (&field("type='fixedwidth' size='2147483647'"), Overflow, What::DATASERIES_TYPE),
        (&field("type='int32' pack_unique='no'"), Invalid, What::DATASERIES_FIELD),
        (&field("type='int32' pack_scale='1'"), Invalid, What::DATASERIES_FIELD),
        (&field("type='double' pack_scale='0'"), Invalid, What::DATASERIES_FIELD),
        (&field("type='double' pack_scale='-0.0'"), Invalid, What::DATASERIES_FIELD),
        (&field("type='double' pack_scale='1 '"), Invalid, What::DATASERIES_FIELD),
        (&field("type='double' pack_scale='x'"), Invalid, What::DATASERIES_FIELD),
        (&field("type='double' pack_scale_warn='no'"), Invalid, What::DATASERIES_FIELD),
        (&field("type='int64' opt_doublebase='1'"), Invalid, What::DATASERIES_FIELD),
        (&field("type='double' pack_relative='f'"), Invalid, What::DATASERIES_FIELD),
        (&field("type='int64' pack_relative='base'"), Invalid, What::DATASERIES_FIELD),
        (&field("type='int32' pack_relative='later'"), Invalid, What::DATASERIES_FIELD),
        (&field("type='int32' pack_relative=''"), Invalid, What::DATASERIES_FIELD),
        (&field("type='byte' pack_relative='f'"), Invalid, What::DATASERIES_FIELD),
        (
            &ty("<field type='int32' name='a' pack_relative='b'/><field type='int32' name='b'/>", ""),
            Invalid,
            What::DATASERIES_FIELD,
        ),
    ] {
        assert_eq!(refused(xml), (kind, what), "{xml}");
    }
}

#[test]
fn what_is_refused_whatever_the_character_set() {
    for name in ["pack_\u{e9}", "opt_\u{e9}", "pack_!"] {
        let xml = format!("<?xml version='1.0' encoding='ISO-8859-1'?><ExtentType name='T' {name}='x'/>");
        let latin: Vec<u8> = xml.chars().map(|c| u8::try_from(u32::from(c)).unwrap()).collect();
        let mut memory = vec![0; 1 << 16];
        let ty = ExtentType::parse(&latin, &Limits::DEFAULT, &mut Scratch::new(&mut memory));
        let wanted = if name.contains('!') { Kind::Invalid } else { Kind::Unsupported };
        assert_eq!(ty.unwrap_err().kind(), wanted, "{name}");
    }
}

#[test]
fn limits_hold() {
    let xml = ty(&(0..20).map(|k| format!("<field type='bool' name='{k}'/>")).collect::<String>(), "");
    let mut memory = vec![0; 1 << 16];
    let few = Limits { max_columns: 19, ..Limits::DEFAULT };
    let e = ExtentType::parse(xml.as_bytes(), &few, &mut Scratch::new(&mut memory)).unwrap_err();
    assert_eq!((e.kind(), e.what(), e.need()), (Kind::Limit, What::MAX_COLUMNS, 19));
    let e = ExtentType::parse(xml.as_bytes(), &Limits::DEFAULT, &mut Scratch::new(&mut memory[..100])).unwrap_err();
    assert_eq!(e.kind(), Kind::NoRoom);
}

/// The names of a document of a megabyte are compared in no time; pair by pair it would be
/// half a billion times.
#[test]
fn many_fields_take_no_square_of_time() {
    let fields: String = (0..30_000).map(|k| format!("<field type='bool' name='{k}'/>")).collect();
    let mut memory = vec![0; 4 << 20];
    let xml = ty(&fields, "");
    let ty = ExtentType::parse(xml.as_bytes(), &Limits::DEFAULT, &mut Scratch::new(&mut memory)).unwrap();
    assert_eq!((ty.fields().count(), ty.record_len()), (30_000, 3752));
}
