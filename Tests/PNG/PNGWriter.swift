import Foundation

/// Writes PNG files chunk by chunk, so that tests determine their exact contents.
enum PNGWriter {
    static let signature: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]
    static let end = chunk("IEND", [])

    static func file(_ chunks: [[UInt8]]) -> Data { Data(signature + chunks.joined()) }

    /// Returns a chunk with a valid checksum. `claimed` replaces the length of `content`.
    static func chunk(_ name: String, _ content: [UInt8], claimed: UInt32? = nil) -> [UInt8] {
        let body = Array(name.utf8) + content
        return bigEndian(claimed ?? UInt32(content.count)) + body + bigEndian(checksum(body))
    }

    static func header(
        width: UInt32, height: UInt32, depth: UInt8 = 8, colorType: UInt8 = 2, isInterlaced: Bool = false
    ) -> [UInt8] {
        chunk("IHDR", bigEndian(width) + bigEndian(height) + [depth, colorType, 0, 0, isInterlaced ? 1 : 0])
    }

    /// Returns the file with another chunk after its header.
    static func inserting(_ chunk: [UInt8], into file: Data) -> Data {
        let afterHeader = 8 + 25
        return Data(file.prefix(afterHeader)) + Data(chunk) + Data(file.dropFirst(afterHeader))
    }

    /// Returns EXIF data with an orientation and nothing else.
    static func exif(orientation: UInt8) -> [UInt8] {
        Array("MM\0*".utf8) + [0, 0, 0, 8, 0, 1, 1, 0x12, 0, 3, 0, 0, 0, 1, 0, orientation, 0, 0, 0, 0, 0, 0]
    }

    static func xmp(_ text: String) -> [UInt8] { chunk("iTXt", Array("XML:com.adobe.xmp\0\0\0\0\0\(text)".utf8)) }

    private static func bigEndian(_ value: UInt32) -> [UInt8] {
        [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: value >> $0) }
    }

    /// CRC-32 as in PNG, annex D.
    private static func checksum(_ bytes: [UInt8]) -> UInt32 {
        var sum = UInt32.max
        for byte in bytes { sum = sum >> 8 ^ checksums[Int(UInt8(truncatingIfNeeded: sum) ^ byte)] }
        return ~sum
    }

    /// The checksums of all bytes.
    private static let checksums: [UInt32] = (0..<256).map { byte in
        var sum = UInt32(byte)
        for _ in 0..<8 { sum = sum & 1 == 1 ? sum >> 1 ^ 0xEDB8_8320 : sum >> 1 }
        return sum
    }
}
