import AlcedoCore

/// What an entry's file is called: the SHA-256 of its key, in four words.
struct EntryName: Hashable, Sendable {
    private(set) var words: SIMD4<UInt64>

    init(words: SIMD4<UInt64>) { self.words = words }

    init(_ key: ImageKey) {
        let digest = key.digestWords
        words = SIMD4()
        for index in 0..<4 { words[index] = UInt64(digest[2 * index]) << 32 | UInt64(digest[2 * index + 1]) }
    }

    /// nil unless there are 64 lowercase hexadecimal digits.
    init?(digits: some Sequence<UInt8>) {
        words = SIMD4()
        var count = 0
        for digit in digits {
            guard count < 64, let value = Self.value(digit) else { return nil }
            words[count / 16] = words[count / 16] << 4 | UInt64(value)
            count += 1
        }
        guard count == 64 else { return nil }
    }

    static func isHexadecimal(_ digits: some Sequence<UInt8>) -> Bool { digits.allSatisfy { value($0) != nil } }

    private static func value(_ digit: UInt8) -> UInt8? {
        switch digit {
        case 0x30...0x39: digit - 0x30
        case 0x61...0x66: digit - 0x61 + 10
        default: nil
        }
    }

    /// As good as random.
    var hash: UInt64 { words[0] }

    // A digest needs no hashing.
    func hash(into hasher: inout Hasher) { hasher.combine(words[0]) }

    /// The digit at a place from 0 to 63.
    func digit(_ index: Int) -> UInt8 {
        let value = UInt8(truncatingIfNeeded: words[index / 16] >> UInt64(60 - 4 * (index % 16))) & 15
        return value < 10 ? 0x30 + value : 0x61 - 10 + value
    }

    /// ``ImageKey/fileName`` of the key.
    var text: String { String(decoding: (0..<64).map(digit), as: UTF8.self) }
}
