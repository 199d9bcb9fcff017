extension UInt8 {
    /// Whether the byte is an unreserved character, which a URL does not encode. Source: RFC 3986, section 2.3.
    @inlinable package var isUnreserved: Bool {
        switch self {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x2E, 0x5F, 0x7E: true
        default: false
        }
    }

    /// The value of the byte as a hexadecimal digit, or nil if it is not one.
    @inlinable package var hexadecimalValue: UInt8? {
        switch self {
        case 0x30...0x39: self - 0x30
        case 0x41...0x46: self - 0x41 + 10
        case 0x61...0x66: self - 0x61 + 10
        default: nil
        }
    }
}

extension Sequence<UInt8> {
    /// The bytes in hexadecimal, with two lowercase digits per byte.
    package var hexadecimal: String {
        let digits = Array("0123456789abcdef".utf8)
        return String(decoding: flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
    }

    /// Returns the bytes as text, with every byte except the plain ones percent-encoded in uppercase digits. Source:
    /// RFC 3986, section 2.1.
    ///
    /// - Parameter isPlain: Returns whether a byte stays unencoded. It must return false for bytes that are not ASCII.
    package func percentEncoded(except isPlain: (UInt8) -> Bool) -> String {
        let digits = Array("0123456789ABCDEF".utf8)
        let bytes = flatMap { byte in
            isPlain(byte) ? [byte] : [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Returns the bytes with their percent-encoding decoded, or nil if a percent sign is not followed by two
    /// hexadecimal digits. Source: RFC 3986, section 2.1.
    @inlinable
    package func percentDecoded() -> [UInt8]? {
        var bytes: [UInt8] = []
        var rest = makeIterator()
        while let byte = rest.next() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            guard let high = rest.next()?.hexadecimalValue, let low = rest.next()?.hexadecimalValue else { return nil }
            bytes.append(high << 4 | low)
        }
        return bytes
    }
}

extension Collection<UInt8> {
    /// Returns the bytes with their percent-encoding decoded. A percent sign that is not followed by two hexadecimal
    /// digits stays unchanged. Source: URL Standard (WHATWG), section 1.3.
    @inlinable
    package func percentDecodedLeniently() -> [UInt8] {
        var bytes: [UInt8] = []
        var rest = self[...]
        while let byte = rest.popFirst() {
            var next = rest
            if byte == UInt8(ascii: "%"), let high = next.popFirst()?.hexadecimalValue,
                let low = next.popFirst()?.hexadecimalValue
            {
                bytes.append(high << 4 | low)
                rest = next
            } else {
                bytes.append(byte)
            }
        }
        return bytes
    }
}

extension Int {
    /// The number of bytes for messages. `Int.max` stands for no limit, or for a sum that overflows.
    package var byteCountText: String { self == .max ? "8 EiB" : "\(self) bytes" }
}

extension String {
    /// The message, followed by the URL in parentheses unless the message contains it.
    package func naming(_ url: String?) -> String {
        guard let url, !contains(url) else { return self }
        return "\(self) (\(url))"
    }

    /// The text for messages: at most 200 characters of it, so that a message about untrusted input stays short.
    package var excerpt: String { utf8.count <= 200 ? self : String(prefix(200)) + "..." }

    /// Returns whether both strings are copies of one string. The result false does not imply that they differ.
    /// Accesses only the 16 bytes of each string value, and retains nothing.
    @inlinable
    package func isCopy(of other: String) -> Bool {
        // Strings with equal bits are equal in every layout.
        let (a, b) = (unsafeBitCast(self, to: (UInt64, UInt64).self), unsafeBitCast(other, to: (UInt64, UInt64).self))
        return a.0 == b.0 && a.1 == b.1
    }

    /// Returns whether both strings have the same UTF-8 bytes. `==` treats canonically equivalent strings as equal, but
    /// file systems and servers distinguish them. O(length), eight bytes at a time.
    @inlinable
    package func hasSameBytes(as other: String) -> Bool {
        // Copies need no comparison, which would load their memory into the processor's cache.
        guard !isCopy(of: other) else { return true }
        return utf8Span.span.bytes.hasSameBytes(as: other.utf8Span.span.bytes)
    }
}

extension RawSpan {
    /// Returns whether both spans have the same bytes. O(length), eight bytes at a time.
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
