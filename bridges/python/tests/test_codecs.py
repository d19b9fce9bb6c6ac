"""Blosc: with python-blosc, numcodecs and Zarr."""

import itertools
import os
import subprocess
import sys

import blosc as original
import conftest
import numcodecs
import numpy as np
import pilaster.numcodecs
import pilaster.zarr
import pytest
import zarr
from pilaster import blosc

DATA = np.cumsum(np.arange(30_000) % 17).astype("i8")
CODECS = [name for name in blosc.compressors if name in original.compressor_list()]


@pytest.mark.parametrize(("cname", "shuffle", "level"), list(itertools.product(CODECS, (0, 1, 2), (0, 1, 5, 9))))
def test_python_blosc(cname, shuffle, level):
    data = DATA.tobytes()
    for size in (1, 4, 8, 3):
        theirs = original.compress(data, size, level, shuffle, cname)
        assert blosc.decompress(theirs) == data
        assert blosc.decompress(memoryview(theirs)) == data
        assert original.decompress(blosc.compress(data, size, level, shuffle, cname)) == data


def test_defaults():
    data = DATA.tobytes()
    chunk = blosc.compress(data)
    assert original.decompress(chunk) == data
    assert blosc.info(chunk) | {"blocksize": 0} == {"nbytes": len(data), "typesize": 8, "blocksize": 0, "cname": "blosclz", "shuffle": "bytes"}
    assert blosc.compress(DATA) == chunk
    out = bytearray(len(data))
    assert blosc.decompress_into(chunk, out) == len(data) and out == data


def test_damaged_chunks():
    chunk = bytearray(blosc.compress(DATA, cname="lz4"))
    for at in range(16, len(chunk), max(1, len(chunk) // 200)):
        chunk[at] ^= 0x55
        try:
            blosc.decompress(chunk)
        except pilaster.Error as e:
            assert e.kind
        chunk[at] ^= 0x55
    for wrong in (b"", b"\2\1", os.urandom(100)):
        with pytest.raises(pilaster.Error):
            blosc.decompress(wrong)
    with pytest.raises(ValueError, match="cname=\"lzo\""):
        blosc.compress(b"abc", cname="lzo")
    for wrong in ({"clevel": 10}, {"clevel": -1}, {"typesize": 0}, {"typesize": 300}):
        ((name, value),) = wrong.items()
        with pytest.raises(ValueError, match=f"{name}={value}; "):
            blosc.compress(b"abc", **wrong)
    for shuffle in (-1, 3):
        with pytest.raises(ValueError, match="shuffle="):
            blosc.compress(b"abc", shuffle=shuffle)


def test_decoding_into_buffers():
    chunk = blosc.compress(DATA)
    for out in (np.empty(len(DATA), "i8"), np.empty((len(DATA) // 2, 2), "f8"), bytearray(DATA.nbytes), memoryview(bytearray(DATA.nbytes))):
        assert blosc.decompress_into(chunk, out) == DATA.nbytes
        assert bytes(out) == DATA.tobytes()
    for size in (2, 4):
        with pytest.raises(pilaster.Error) as caught:
            blosc.decompress_into(blosc.compress(b"abc"), bytearray(size))
        assert caught.value.kind == "NoRoom"
    for out in (bytes(DATA.nbytes), np.empty(2 * len(DATA), "i8")[::2]):
        with pytest.raises(ValueError, match="out is"):
            blosc.decompress_into(chunk, out)
    assert DATA.tobytes() == blosc.decompress(chunk)


def test_chunks_that_state_a_size_without_memory():
    """The size is of a chunk that nothing checks, so it must not end the process."""
    code = """
import resource, pilaster
from pilaster import blosc
chunk = bytearray(blosc.compress(bytes(1 << 20), cname="lz4"))
chunk[4:8] = (2**31 - 2**20).to_bytes(4, "little")
resource.setrlimit(resource.RLIMIT_AS, (1 << 30, 1 << 30))
for call in (blosc.decompress, lambda chunk: blosc.decompress_into(chunk, bytearray(10)), lambda chunk: blosc.compress(memoryview(bytearray(500 << 20)))):
    try:
        call(chunk)
    except (pilaster.Error, MemoryError) as e:
        print(type(e).__name__)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0 and done.stdout.split()[1] == "Error", done.stderr
    assert len(done.stdout.split()) == 3


@pytest.mark.parametrize("config", [{}, {"cname": "zstd", "clevel": 9}, {"shuffle": -1}, {"shuffle": 2, "blocksize": 1024}, {"typesize": 2}])
def test_numcodecs(config):
    theirs, ours = numcodecs.blosc.Blosc(**config), pilaster.numcodecs.Blosc(**config)
    assert ours.get_config() == theirs.get_config()
    for array in (DATA, DATA.astype("f4"), DATA.astype("u1"), DATA.reshape(300, 100)):
        for a, b in ((ours, theirs), (theirs, ours)):
            got = np.frombuffer(a.decode(b.encode(array)), array.dtype)
            np.testing.assert_array_equal(got, array.ravel())
        out = np.empty_like(array)
        ours.decode(theirs.encode(array), out=out)
        np.testing.assert_array_equal(out, array)


@pytest.mark.parametrize(("cname", "shuffle"), list(itertools.product(("lz4", "lz4hc", "blosclz", "zlib", "zstd"), (0, 1, 2))))
def test_chunks_without_compression_are_byte_equal(cname, shuffle):
    theirs, ours = numcodecs.blosc.Blosc(cname, 0, shuffle), pilaster.numcodecs.Blosc(cname, 0, shuffle)
    for array in (DATA, DATA.astype("f4"), DATA[:1], DATA[:0], DATA.view("u1")[:99]):
        assert bytes(ours.encode(array)) == bytes(theirs.encode(array))


@pytest.fixture
def ours():
    before = numcodecs.registry.codec_registry.get("blosc", numcodecs.blosc.Blosc)
    pilaster.zarr.register()
    yield
    numcodecs.registry.register_codec(before)
    zarr.config.set({"codecs.blosc": "zarr.codecs.blosc.BloscCodec"})


def stored(folder):
    return {p.relative_to(folder): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}


@pytest.mark.parametrize("version", [2, 3])
@pytest.mark.parametrize(("cname", "shuffle"), list(itertools.product(("lz4", "lz4hc", "blosclz", "zlib", "zstd"), (0, 1, 2))))
def test_zarr(version, cname, shuffle, tmp_path, ours):
    """Archives of zarr-python are read by us, and ours by zarr-python."""
    names = ("noshuffle", "shuffle", "bitshuffle")
    array = DATA.reshape(300, 100)

    def make(folder, mine):
        if version == 2:
            codec = (pilaster.numcodecs if mine else numcodecs.blosc).Blosc(cname, 5, shuffle)
        else:
            kind = pilaster.zarr.BloscCodec if mine else zarr.codecs.BloscCodec
            codec = kind(cname=cname, clevel=5, shuffle=names[shuffle], typesize=8)
        z = zarr.create_array(folder, shape=array.shape, chunks=(100, 50), dtype="i8", zarr_format=version, compressors=codec)
        z[:] = array

    make(tmp_path / "theirs", False)
    make(tmp_path / "ours", True)
    z = zarr.open_array(tmp_path / "theirs")
    assert type(z.compressors[0]).__module__.startswith("pilaster")
    np.testing.assert_array_equal(z[:], array)
    theirs, own = stored(tmp_path / "theirs"), stored(tmp_path / "ours")
    assert theirs.keys() == own.keys()
    for name, data in theirs.items():
        if data[:1] != b"{":
            # The bytes that an archive of zarr-python has after decoding, and the same choices of the encoder: the header apart from the
            # size of the compressed bytes.
            assert blosc.decompress(data) == numcodecs.blosc.decompress(own[name]) == numcodecs.blosc.decompress(data)
            assert len(blosc.decompress(data)) == 100 * 50 * 8 and data[:12] == own[name][:12]
        else:
            # The metadata are the same, so that other programs know the codec.
            assert data == own[name]


# Archives that zarr-python 3.1.6 wrote with its own codec (numcodecs 0.16.6), of both versions of the format.
ARCHIVES = sorted((conftest.ROOT / "bridges/python/tests/zarr").iterdir())


@pytest.mark.parametrize("archive", ARCHIVES, ids=lambda path: path.name)
def test_archives_that_are_kept(archive, ours):
    values = (np.arange(600, dtype="<i4") ** 2 % 1009).astype("<i4").reshape(60, 10)
    z = zarr.open_array(archive, mode="r")
    assert type(z.compressors[0]).__module__.startswith("pilaster")
    np.testing.assert_array_equal(z[:], values)
    chunks = [path for path in sorted(archive.rglob("*")) if path.is_file() and path.read_bytes()[:1] != b"{"]
    assert len(chunks) == 2
    for k, path in enumerate(chunks):
        # The bytes that were stored, without numcodecs.
        assert blosc.decompress(path.read_bytes()) == values[30 * k : 30 * k + 30].tobytes()
        again = z.compressors[0]
        codec = getattr(again, "_blosc_codec", again)
        # The same choices of the encoder: the header apart from the size of the compressed bytes.
        assert bytes(codec.encode(values[30 * k : 30 * k + 30]))[:12] == path.read_bytes()[:12]


def test_archives_of_both_versions_are_kept():
    assert {path.name for path in ARCHIVES} == {f"v{v}-{codec}" for v in (2, 3) for codec in ("lz4", "zstd", "zlib")}
