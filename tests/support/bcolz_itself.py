"""Datasets that pilaster wrote, opened and appended to by bcolz itself."""

import pickle
import warnings

import bcolz
import numpy


def arrays(directory, mode="r"):
    """The dataset and its arrays by name."""
    dataset = bcolz.open(str(directory), mode=mode)
    if isinstance(dataset, bcolz.ctable):
        return dataset, {name: dataset[name] for name in dataset.names}
    return dataset, {"": dataset}


def same(rows, array):
    """Whether it reads these rows: type, shape and bytes; of objects, their pickles."""
    dtype, shape, data = rows
    if dtype == "object":
        return len(array) == len(data) and all(
            numpy.array_equal(array[k], pickle.loads(item)) for k, item in enumerate(data)
        )
    values = numpy.asarray(array[:])
    return (str(values.dtype), list(values.shape), values.tobytes()) == (str(numpy.dtype(dtype)), shape, data)


def read(directory, rows_of):
    """Reads a dataset, whole and one row of it."""
    _, columns = arrays(directory)
    for name, array in columns.items():
        rows = rows_of(directory / name)
        assert same(rows, array), (directory, name)
        middle = len(array) // 2
        if rows[0] != "object" and len(array):
            row = len(rows[2]) // len(array)
            assert array[middle : middle + 1].tobytes() == rows[2][middle * row :][:row], (directory, name, "one row")


def defaults(directory, count):
    """Whether the last rows are what it fills with when it grows."""
    _, columns = arrays(directory)
    for name, array in columns.items():
        for row in array[len(array) - count :]:
            value, wanted = (numpy.broadcast_to(one, numpy.shape(row)).astype(array.dtype) for one in (row, array.dflt))
            assert value.tobytes() == wanted.tobytes(), (directory, name, row)


def attributes(directory):
    """The attributes of a dataset."""
    return dict(arrays(directory)[0].attrs)


def append(directory):
    """Appends all its rows to a dataset, as it would go on with one of its own."""
    dataset, columns = arrays(directory, "a")
    rows = [array[:] for array in columns.values()]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        dataset.append(rows if isinstance(dataset, bcolz.ctable) else rows[0])
    dataset.flush()
