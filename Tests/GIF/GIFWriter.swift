import Foundation

/// Writes GIF files block by block with uncompressed pixels, so that tests determine their exact contents.
enum GIFWriter {
    typealias Color = (UInt8, UInt8, UInt8)

    static func file(width: Int, height: Int, palette: [Color]?, _ blocks: [[UInt8]], trailer: Bool = true) -> Data {
        let flags: UInt8 = palette == nil ? 0 : 0x80 | sizeBits(palette)
        var bytes = Array("GIF89a".utf8) + word(width) + word(height) + [flags, 0, 0] + colors(palette)
        for block in blocks { bytes += block }
        if trailer { bytes.append(0x3B) }
        return Data(bytes)
    }

    /// Returns an image whose pixels all have one index, or those of `indices`, each below 128.
    static func image(
        left: Int = 0, top: Int = 0, width: Int, height: Int, palette: [Color]? = nil, isInterlaced: Bool = false,
        codeSize: UInt8 = 7, indices: [UInt8]
    ) -> [UInt8] {
        let tableFlags: UInt8 = palette == nil ? 0 : 0x80 | sizeBits(palette)
        let flags = tableFlags | (isInterlaced ? 0x40 : 0)
        let head: [UInt8] = [0x2C] + word(left) + word(top) + word(width) + word(height) + [flags]
        // With 7-bit pixels and a clear code (0x80) at least every hundred codes, a code is always one byte.
        var codes: [UInt8] = []
        for start in stride(from: 0, to: indices.count, by: 100) {
            codes += [0x80] + indices[start..<min(start + 100, indices.count)]
        }
        return head + colors(palette) + [codeSize] + subBlocks(codes + [0x81])
    }

    static func control(transparentIndex: UInt8? = nil, disposal: UInt8 = 0) -> [UInt8] {
        [0x21, 0xF9, 4, disposal << 2 | (transparentIndex == nil ? 0 : 1), 0, 0, transparentIndex ?? 0, 0]
    }

    static func application(_ name: String, _ content: [UInt8]) -> [UInt8] {
        [0x21, 0xFF, 11] + Array(name.utf8) + subBlocks(content)
    }

    static let plainText: [UInt8] = [0x21, 0x01] + subBlocks([UInt8](repeating: 0, count: 12) + Array("text".utf8))

    static func subBlocks(_ bytes: [UInt8]) -> [UInt8] {
        let parts = stride(from: 0, to: bytes.count, by: 255).map { bytes[$0..<min($0 + 255, bytes.count)] }
        return parts.flatMap { [UInt8($0.count)] + $0 } + [0]
    }

    private static func word(_ value: Int) -> [UInt8] { [UInt8(value & 0xFF), UInt8(value >> 8 & 0xFF)] }

    /// The number of colors is 2 to the power of this plus one.
    private static func sizeBits(_ palette: [Color]?) -> UInt8 {
        UInt8((0...7).first { 2 << $0 >= palette?.count ?? 0 } ?? 7)
    }

    private static func colors(_ palette: [Color]?) -> [UInt8] {
        guard let palette else { return [] }
        let missing = (2 << Int(sizeBits(palette))) - palette.count
        return palette.flatMap { [$0.0, $0.1, $0.2] } + [UInt8](repeating: 0, count: 3 * missing)
    }
}
