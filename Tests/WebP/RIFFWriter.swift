import Foundation

/// Writes WebP files chunk by chunk, so that tests can say exactly what is in them.
enum RIFFWriter {
    static func file(_ chunks: [[UInt8]], announcing extra: Int = 0) -> Data {
        let content = Array("WEBP".utf8) + chunks.joined()
        return Data(Array("RIFF".utf8) + number(content.count + extra, bytes: 4) + content)
    }

    static func chunk(_ id: String, _ payload: [UInt8]) -> [UInt8] {
        Array(id.utf8) + number(payload.count, bytes: 4) + payload + [UInt8](repeating: 0, count: payload.count % 2)
    }

    static func extendedHeader(flags: UInt8, width: Int, height: Int) -> [UInt8] {
        chunk("VP8X", [flags, 0, 0, 0] + number(width - 1, bytes: 3) + number(height - 1, bytes: 3))
    }

    /// An animation's frame. Offsets must be even.
    static func frame(left: Int = 0, top: Int = 0, width: Int, height: Int, _ chunks: [[UInt8]]) -> [UInt8] {
        let place = number(left / 2, bytes: 3) + number(top / 2, bytes: 3)
        let size = number(width - 1, bytes: 3) + number(height - 1, bytes: 3)
        return chunk("ANMF", place + size + [0, 0, 0, 0] + chunks.joined())
    }

    /// The chunk with the pixels of a file of the simple format.
    static func image(of file: Data) -> [UInt8] { Array(file.dropFirst(12)) }

    private static func number(_ value: Int, bytes: Int) -> [UInt8] {
        (0..<bytes).map { UInt8(value >> (8 * $0) & 0xFF) }
    }
}
