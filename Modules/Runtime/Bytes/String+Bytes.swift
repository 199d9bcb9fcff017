extension String {
    /// Whether both are copies of one string. False does not say that they differ. Looks at no memory but the strings'
    /// own sixteen bytes, and retains nothing.
    @inlinable
    package func isCopy(of other: String) -> Bool {
        // Whatever the layout: equal bits are equal strings.
        let (a, b) = (unsafeBitCast(self, to: (UInt64, UInt64).self), unsafeBitCast(other, to: (UInt64, UInt64).self))
        return a.0 == b.0 && a.1 == b.1
    }

    /// Whether both are the same in UTF-8. `==` takes different spellings of one character for the same, which the
    /// names of files and servers do not. O(length), eight bytes at a time.
    @inlinable
    package func hasSameBytes(as other: String) -> Bool {
        // Memory that is shared need not come into the processor's cache.
        guard !isCopy(of: other) else { return true }
        return utf8Span.span.bytes.hasSameBytes(as: other.utf8Span.span.bytes)
    }
}

extension RawSpan {
    /// Whether both are the same bytes. O(length), eight at a time.
    @inlinable
    package func hasSameBytes(as other: RawSpan) -> Bool {
        guard byteCount == other.byteCount else { return false }
        var offset = 0
        while offset + 8 <= byteCount {
            let a = unsafeLoadUnaligned(fromByteOffset: offset, as: UInt64.self)
            guard a == other.unsafeLoadUnaligned(fromByteOffset: offset, as: UInt64.self) else { return false }
            offset += 8
        }
        while offset < byteCount {
            let a = unsafeLoad(fromByteOffset: offset, as: UInt8.self)
            guard a == other.unsafeLoad(fromByteOffset: offset, as: UInt8.self) else { return false }
            offset += 1
        }
        return true
    }
}
