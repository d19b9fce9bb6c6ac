"""The error of files."""


class Error(ValueError):
    """A file is invalid, or cannot hold the values that are written.

    >>> import pilaster
    >>> try:
    ...     pilaster.open(b"JAY1\\0\\0\\0\\0 is too short")
    ... except pilaster.Error as e:
    ...     print(e.kind, "|", e.field, "|", e.offset)
    Truncated | jay end signature | 0

    Files that do not exist raise the usual ``OSError``, and wrong arguments ``TypeError`` or ``ValueError``.
    """

    #: The kind: ``"Truncated"``, ``"Invalid"``, ``"Checksum"``, ``"Limit"``, ``"Unsupported"`` and others.
    kind: str
    #: The field of the format in which the error occurred, if there is one.
    field: str | None
    #: Its offset in the file, or the number of a row or of another item.
    offset: int | None
    #: The value found, or the size that is needed.
    need: int | None

    def __init__(
        self,
        text: str = "",
        kind: str = "Invalid",
        field: str | None = None,
        offset: int | None = None,
        need: int | None = None,
    ) -> None:
        super().__init__(text)
        self.kind, self.field, self.offset, self.need = kind, field, offset, need

    def __reduce__(self) -> tuple[type["Error"], tuple[str, str, str | None, int | None, int | None]]:
        return (type(self), (str(self), self.kind, self.field, self.offset, self.need))
