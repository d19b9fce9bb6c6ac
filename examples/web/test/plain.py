"""The modules in a runtime that knows no JavaScript: wasmtime. Opens a file, gives what is wanted, reads a column."""
import json
import sys
from pathlib import Path

from wasmtime import Engine, Instance, Module, Store

ROOT = Path(__file__).resolve().parents[3]
WEB = ROOT / "examples/web"


def opened(name, golden):
    store = Store(Engine())
    module = Module.from_file(store.engine, str(WEB / name))
    assert not module.imports, name
    exports = Instance(store, module, []).exports(store)
    memory = exports["memory"]
    call = lambda export, *args: exports[export](store, *args)
    data = (ROOT / "tests/golden" / golden).read_bytes()

    def put(part):
        memory.write(store, part, call("input", len(part)))

    def attempt(export, *args, input):
        # The requested bytes have replaced the input.
        if input is not None:
            put(input)
        return call(export, *args)

    def finished(export, *args, input=None):
        while status := attempt(export, *args, input=input):
            reply = json.loads(text(call("reply"), call("reply_len")))
            assert status in (1, 3), reply
            for number, one in enumerate(reply if status == 1 else []):
                put(data[one["at"] : one["at"] + one["len"]])
                assert call("give", number, one["at"])
        return json.loads(text(call("reply"), call("reply_len")))

    text = lambda at, size: bytes(memory.read(store, at, at + size))
    put(Path(golden).name.encode())
    call("file", len(data), 0, 0)
    return finished, finished("open")


for golden in ["jay/stats_n7.jay", "vortex/enc_alp_a.vortex", *sys.argv[1:]]:
    finished, facts = opened("pilaster.wasm", golden)
    table = facts["tables"][0]
    rows = finished("read", 0, 0, table["rows"], input=(0).to_bytes(4, "little"))
    assert rows == table["rows"] > 0, (golden, rows)
    name = facts["format"]
    finished, _ = opened("pilaster-vortex-verify.wasm" if name == "vortex" else f"pilaster-{name}.wasm", golden)
    assert finished("verify") is True
    print(f"{golden}: {name}, {rows} rows")
