import AlcedoCore
import Testing

@testable import AlcedoTerminal

@Suite struct ReductionTests {
    private let one = PixelSize(width: 1, height: 1)

    private func mean(_ pixels: PixelBuffer, over background: PixelColor = .black) -> [UInt8]? {
        pixels.reduced(to: one, over: background)?.colors.first
    }

    @Test func `a pixel is the mean of those it covers`() throws {
        let pixels = PixelBuffer.grays([0, 10, 100, 200, 20, 30, 100, 201], width: 4)

        let reduced = try #require(pixels.reduced(to: PixelSize(width: 2, height: 1), over: .black))

        #expect(reduced.colors == [[15, 15, 15], [150, 150, 150]])
    }

    @Test func `every source pixel counts in sizes that do not divide`() throws {
        let pixels = PixelBuffer.grays([1, 2, 3, 4, 5, 6, 7], width: 7)

        let reduced = try #require(pixels.reduced(to: PixelSize(width: 3, height: 1), over: .black))

        // 1 2 | 3 4 | 5 6 7, with halves rounded up.
        #expect(reduced.colors.map { $0[0] } == [2, 4, 6])
    }

    @Test func `the same image has the same mean in every format`() {
        let straight: [UInt8] = [200, 100, 50, 255, 0, 80, 40, 51]
        let premultiplied: [UInt8] = [200, 100, 50, 255, 0, 16, 8, 51]
        let wide = { (samples: [UInt8]) in samples.map { UInt16($0) * 257 } }

        let expected: [UInt8] = [100, 58, 29]

        #expect(mean(.samples(straight, width: 2, format: .rgba8, alphaMode: .straight)) == expected)
        #expect(mean(.samples(premultiplied, width: 2, format: .rgba8, alphaMode: .premultiplied)) == expected)
        #expect(mean(.samples16(wide(straight), width: 2, alphaMode: .straight)) == expected)
        #expect(mean(.samples16(wide(premultiplied), width: 2, alphaMode: .premultiplied)) == expected)
    }

    @Test func `alpha is ignored in an opaque image`() {
        let samples: [UInt8] = [200, 100, 50, 0]

        #expect(mean(.samples(samples, width: 1, format: .rgbx8)) == [200, 100, 50])
        #expect(mean(.samples(samples, width: 1, format: .rgba8, alphaMode: .opaque)) == [200, 100, 50])
    }

    @Test func `color above alpha in a damaged premultiplied image is clamped`() {
        let samples: [UInt8] = [255, 255, 255, 10]

        #expect(mean(.samples(samples, width: 1, format: .rgba8, alphaMode: .premultiplied)) == [10, 10, 10])
        #expect(
            mean(.samples(samples, width: 1, format: .rgba8, alphaMode: .premultiplied), over: .white)
                == [255, 255, 255])
    }

    @Test func `color of a transparent pixel does not bleed`() {
        let samples: [UInt8] = [255, 0, 0, 0, 0, 0, 255, 255]

        #expect(mean(.samples(samples, width: 2, format: .rgba8, alphaMode: .straight)) == [0, 0, 128])
    }

    @Test(arguments: [PixelSize(width: 9, height: 9), PixelSize(width: 0, height: -1)])
    func `a target out of range is clamped`(target: PixelSize) throws {
        let pixels = PixelBuffer.grays([5, 5, 5, 5], width: 2)

        let reduced = try #require(pixels.reduced(to: target, over: .black))

        #expect(reduced.width == min(max(1, target.width), 2))
        #expect(reduced.colors.allSatisfy { $0 == [5, 5, 5] })
    }
}
