/** The element types of Filo vectors, in the order of the module. */
export const ELEMENTS = ['boolean', 'int', 'long', 'float', 'double', 'string', 'utf8', 'blob', 'timestamp', 'datetime']
