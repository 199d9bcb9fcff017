import Foundation

/// Writes WebP files chunk by chunk, so that tests determine their exact contents.
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

    /// The header of an animation.
    static func animation(width: Int, height: Int, loopCount: Int = 0) -> [UInt8] {
        extendedHeader(flags: 0x12, width: width, height: height)
            + chunk("ANIM", [0x40, 0x80, 0xC0, 0xFF] + number(loopCount, bytes: 2))
    }

    /// Returns an animation's frame. Offsets must be even.
    ///
    /// - Parameter flags: 1 to clear the frame's area afterwards, 2 to replace pixels instead of blending them.
    static func frame(
        left: Int = 0, top: Int = 0, width: Int, height: Int, delay: Int = 0, flags: UInt8 = 0, _ chunks: [[UInt8]]
    ) -> [UInt8] {
        let place = number(left / 2, bytes: 3) + number(top / 2, bytes: 3)
        let size = number(width - 1, bytes: 3) + number(height - 1, bytes: 3)
        return chunk("ANMF", place + size + number(delay, bytes: 3) + [flags] + chunks.joined())
    }

    /// Returns the chunk with the pixels of a file of the simple format.
    static func image(of file: Data) -> [UInt8] { Array(file.dropFirst(12)) }

    /// Returns the chunks of an image file after its headers: alpha and pixels.
    static func imageChunks(of file: Data) -> [UInt8] {
        let chunks = Array(file.dropFirst(12))
        return chunks.starts(with: "VP8X".utf8) ? Array(chunks.dropFirst(18)) : chunks
    }

    private static func number(_ value: Int, bytes: Int) -> [UInt8] {
        (0..<bytes).map { UInt8(value >> (8 * $0) & 0xFF) }
    }
}
