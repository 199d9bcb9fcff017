#if HEIF
    import AlcedoCore

    /// A reader of the bits of a parameter set, without the bytes that prevent start codes. Source: ITU-T H.265,
    /// sections 7.3.1.1 and 9.2.
    struct BitReader {
        private let bytes: [UInt8]
        private var position = 0

        /// Creates a reader of the bits after the header of a NAL unit.
        init(_ unit: some Collection<UInt8>) {
            var bytes: [UInt8] = []
            var zeros = 0
            for byte in unit.dropFirst(2) {
                if zeros >= 2, byte == 3 {
                    zeros = 0
                    continue
                }
                zeros = byte == 0 ? zeros + 1 : 0
                bytes.append(byte)
            }
            self.bytes = bytes
        }

        /// Reads a number of at most 32 bits.
        ///
        /// - Throws: `corrupt` when the bits end before.
        mutating func bits(_ count: Int) throws(ImageDecodingError) -> Int {
            guard count <= 8 * bytes.count - position else { throw Self.damaged }
            var value = 0
            for _ in 0..<count {
                value = value << 1 | Int(bytes[position >> 3] >> (7 - UInt8(position & 7)) & 1)
                position += 1
            }
            return value
        }

        mutating func flag() throws(ImageDecodingError) -> Bool { try bits(1) == 1 }

        mutating func skip(_ count: Int) throws(ImageDecodingError) {
            guard count <= 8 * bytes.count - position else { throw Self.damaged }
            position += count
        }

        /// Reads an Exp-Golomb code: a number from 0 to 2³² - 2.
        mutating func golomb() throws(ImageDecodingError) -> Int {
            var zeros = 0
            while try bits(1) == 0 {
                zeros += 1
                guard zeros < 32 else { throw Self.damaged }
            }
            return (1 << zeros) - 1 + (try bits(zeros))
        }

        /// Reads an Exp-Golomb code that must not exceed a limit.
        mutating func golomb(atMost limit: Int) throws(ImageDecodingError) -> Int {
            let value = try golomb()
            guard value <= limit else { throw Self.damaged }
            return value
        }

        /// Skips Exp-Golomb codes. Signed codes have the same bits.
        mutating func skipGolomb(_ count: Int) throws(ImageDecodingError) {
            for _ in 0..<count { _ = try golomb() }
        }

        private static var damaged: ImageDecodingError {
            ImageDecodingError(.corrupt, "HEIF: a sequence parameter set is damaged")
        }
    }
#endif
