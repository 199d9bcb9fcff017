import Foundation
import Testing

/// The images of a file as stored, for tests of what an encoder has written.
struct GIFBlocks {
    struct Image: Equatable {
        /// The left and top edge, the width and the height.
        var area: [Int]
        var disposal = 0
        var delay = 0
        var hasTransparency = false
        /// The number of colors in the palette of the image; zero if it uses the global one.
        var colorCount = 0
        var minimumCodeSize = 0
    }

    private(set) var images: [Image] = []
    /// The number of colors in the global palette; zero if there is none.
    private(set) var colorCount = 0
    private let bytes: [UInt8]
    private var position = 13

    init(_ file: Data) throws {
        bytes = [UInt8](file)
        colorCount = Self.colorCount(bytes[10])
        position += 3 * colorCount
        var control: [UInt8] = [0, 0, 0, 0]
        while bytes[position] != 0x3B {
            if bytes[position] == 0x21 {
                if bytes[position + 1] == 0xF9 { control = Array(bytes[position + 3..<position + 7]) }
                position += 2
            } else {
                try #require(bytes[position] == 0x2C)
                var image = Image(area: [1, 3, 5, 7].map { word(at: position + $0) })
                image.disposal = Int(control[0] >> 2 & 7)
                image.hasTransparency = control[0] & 1 == 1
                image.delay = Int(control[1]) | Int(control[2]) << 8
                image.colorCount = Self.colorCount(bytes[position + 9])
                position += 10 + 3 * image.colorCount
                image.minimumCodeSize = Int(bytes[position])
                position += 1
                images.append(image)
                control = [0, 0, 0, 0]
            }
            while bytes[position] != 0 { position += 1 + Int(bytes[position]) }
            position += 1
        }
        #expect(position == bytes.count - 1, "bytes follow the trailer")
    }

    private static func colorCount(_ flags: UInt8) -> Int { flags & 0x80 == 0 ? 0 : 2 << Int(flags & 7) }

    private func word(at offset: Int) -> Int { Int(bytes[offset]) | Int(bytes[offset + 1]) << 8 }
}
