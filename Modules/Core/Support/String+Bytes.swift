extension String {
    /// Whether both are the same in UTF-8. `==` takes different spellings of one character for the same, which the
    /// names of files and servers do not. O(length), eight bytes at a time.
    func hasSameBytes(as other: String) -> Bool {
        let (left, right) = (utf8Span.span.bytes, other.utf8Span.span.bytes)
        guard left.byteCount == right.byteCount else { return false }
        var offset = 0
        while offset + 8 <= left.byteCount {
            let a = left.unsafeLoadUnaligned(fromByteOffset: offset, as: UInt64.self)
            guard a == right.unsafeLoadUnaligned(fromByteOffset: offset, as: UInt64.self) else { return false }
            offset += 8
        }
        while offset < left.byteCount {
            let a = left.unsafeLoad(fromByteOffset: offset, as: UInt8.self)
            guard a == right.unsafeLoad(fromByteOffset: offset, as: UInt8.self) else { return false }
            offset += 1
        }
        return true
    }
}
