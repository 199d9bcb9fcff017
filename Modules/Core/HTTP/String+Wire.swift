// How text of an HTTP message stands for the bytes on the wire. Inlinable, because it is asked for every line of every
// head, from other modules, which could not specialize it else.

extension String {
    /// The text that stands for these bytes, one code point a byte (ISO-8859-1).
    @inlinable
    package init(latin1 bytes: some Collection<UInt8>) {
        guard bytes.contains(where: { $0 >= 0x80 }) else {
            self.init(decoding: bytes, as: UTF8.self)
            return
        }
        self.init(String.UnicodeScalarView(bytes.lazy.map { Unicode.Scalar($0) }))
    }

    /// The bytes that the text stands for, one a code point; nil when one is above U+00FF.
    package var latin1: [UInt8]? {
        if utf8.allSatisfy({ $0 < 0x80 }) { return Array(utf8) }
        var bytes: [UInt8] = []
        for scalar in unicodeScalars {
            guard let byte = UInt8(exactly: scalar.value) else { return nil }
            bytes.append(byte)
        }
        return bytes
    }
}

extension StringProtocol {
    /// Whether the text is a token, as methods and the names of fields are. Source: RFC 9110 section 5.6.2.
    @inlinable
    package var isToken: Bool {
        !isEmpty
            && utf8.allSatisfy { byte in
                switch byte {
                case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
                // !, # to ', *, +, -, ., ^ to `, |, ~
                case 0x21, 0x23...0x27, 0x2A, 0x2B, 0x2D, 0x2E, 0x5E...0x60, 0x7C, 0x7E: true
                default: false
                }
            }
    }
}
