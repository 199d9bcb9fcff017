extension UInt8 {
    /// Whether a URL has it as it is. Source: RFC 3986 section 2.3.
    @inlinable package var isUnreserved: Bool {
        switch self {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x2E, 0x5F, 0x7E: true
        default: false
        }
    }
}

extension Sequence<UInt8> {
    /// Two small digits a byte.
    package var hexadecimal: String {
        let digits = Array("0123456789abcdef".utf8)
        return String(decoding: flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
    }

    /// All bytes but plain ones as a percent sign and two large digits. Source: RFC 3986 section 2.1.
    ///
    /// - Parameter isPlain: Must not hold for a byte that is not ASCII.
    package func percentEncoded(except isPlain: (UInt8) -> Bool) -> String {
        let digits = Array("0123456789ABCDEF".utf8)
        let bytes = flatMap { byte in
            isPlain(byte) ? [byte] : [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
