import AlcedoCore
import TestSupport
import Testing

@Suite struct ExactPaletteTests {
    @Test func `colors are indexed in the order of their first appearance`() {
        var palette = ExactPalette()
        let seen: [UInt32] = [9, 0, 9, .max, 0, 5]
        #expect(seen.map { palette.insert($0) } == [0, 1, 0, 2, 1, 3])
        #expect(palette.colors == [9, 0, .max, 5])
        #expect(palette.index(of: .max) == 2)
        #expect(palette.index(of: 8) == nil)
    }

    /// Colors that hash to one slot, or differ in one byte only.
    @Test(arguments: [1, 256, 1 << 24, 0x0101_0101]) func `256 colors fit and 257 do not`(step: UInt32) {
        var palette = ExactPalette()
        let colors = (0..<256).map { UInt32($0) &* step }
        for (index, color) in colors.enumerated() { #expect(palette.insert(color) == UInt8(index)) }

        let stranger = colors[255] ^ 0x8000_0001
        #expect(palette.insert(stranger) == nil)
        #expect(palette.insert(colors[17]) == 17)
        #expect(palette.colors == colors)
        for (index, color) in colors.enumerated() { #expect(palette.index(of: color) == UInt8(index)) }
        #expect(palette.index(of: stranger) == nil)
    }

    @Test func `a palette finds the colors that were inserted and no others`() {
        var generator = SeededGenerator(seed: 3)
        for _ in 0..<50 {
            var palette = ExactPalette()
            var indices: [UInt32: UInt8] = [:]
            while indices.count < 256 {
                let color = UInt32.random(in: 0...UInt32.max, using: &generator)
                let index = palette.insert(color)
                if indices[color] == nil { indices[color] = UInt8(indices.count) }
                #expect(index == indices[color])
            }
            for (color, index) in indices { #expect(palette.index(of: color) == index) }
            for _ in 0..<100 {
                let color = UInt32.random(in: 0...UInt32.max, using: &generator)
                #expect(palette.index(of: color) == indices[color])
            }
        }
    }

    @Test(arguments: [(255, true), (256, true), (257, false)])
    func `an image has a palette when its colors fit`(count: Int, fits: Bool) throws {
        let pixels = PixelBuffer(
            size: PixelSize(width: 20, height: 20), format: .rgba8, alphaMode: .straight
        ) { memory, stride in
            for y in 0..<20 {
                for x in 0..<20 {
                    let color = UInt32((y * 20 + x) % count) &* 0x01_0203
                    memory.storeBytes(of: color, toByteOffset: y * stride + 4 * x, as: UInt32.self)
                }
            }
        }

        let palette = ExactPalette(try #require(pixels))

        #expect((palette != nil) == fits)
        if fits { #expect(palette?.colors == (0..<count).map { UInt32($0) &* 0x01_0203 }) }
    }
}
