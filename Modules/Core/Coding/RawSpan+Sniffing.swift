extension RawSpan {
    /// Whether the bytes from `offset` on begin with `expected`.
    public func contains(_ expected: [UInt8], at offset: Int = 0) -> Bool {
        guard offset >= 0, byteCount >= offset, byteCount - offset >= expected.count else { return false }
        return expected.indices.allSatisfy { index in
            unsafeLoad(fromByteOffset: offset + index, as: UInt8.self) == expected[index]
        }
    }
}
