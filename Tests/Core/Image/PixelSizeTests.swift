import AlcedoCore
import Testing

@Suite struct PixelSizeTests {
    @Test(arguments: [
        // 4:3 into squares and strips.
        (PixelSize(width: 400, height: 300), PixelSize(width: 100, height: 100), TargetSize.ContentMode.fit, 100, 75),
        (PixelSize(width: 400, height: 300), PixelSize(width: 100, height: 100), .fill, 133, 100),
        (PixelSize(width: 300, height: 400), PixelSize(width: 100, height: 100), .fit, 75, 100),
        (PixelSize(width: 400, height: 300), PixelSize(width: 400, height: 300), .fit, 400, 300),
        // No side becomes zero.
        (PixelSize(width: 10_000, height: 1), PixelSize(width: 10, height: 10), .fit, 10, 1),
        // Not enlarged.
        (PixelSize(width: 4, height: 3), PixelSize(width: 100, height: 100), .fit, 4, 3),
        (PixelSize(width: 4, height: 300), PixelSize(width: 100, height: 100), .fill, 4, 300),
        // Invalid targets return the size.
        (PixelSize(width: 4, height: 3), PixelSize(width: 0, height: 2), .fit, 4, 3),
        (PixelSize(width: -4, height: 3), PixelSize(width: 2, height: 2), .fill, -4, 3),
    ])
    func `a size satisfies its target`(
        size: PixelSize, target: PixelSize, mode: TargetSize.ContentMode, width: Int, height: Int
    ) {
        #expect(size.scaled(to: target, mode: mode) == PixelSize(width: width, height: height))
    }

    @Test func `enlarging is off by default`() {
        let size = PixelSize(width: 4, height: 3)
        let target = PixelSize(width: 100, height: 100)
        #expect(size.scaled(to: target, mode: .fit, enlarging: true) == PixelSize(width: 100, height: 75))
        #expect(size.scaled(to: target, mode: .fill, enlarging: true) == PixelSize(width: 133, height: 100))
    }

    @Test func `fit stays inside and fill covers, for any proportions`() {
        for width in stride(from: 1, through: 2000, by: 37) {
            for height in stride(from: 1, through: 2000, by: 41) {
                let size = PixelSize(width: width, height: height)
                let target = PixelSize(width: 97, height: 113)
                let fit = size.scaled(to: target, mode: .fit)
                #expect(fit.width <= 97)
                #expect(fit.height <= 113)
                #expect(fit.isPositive)
                let fill = size.scaled(to: target, mode: .fill, enlarging: true)
                #expect(fill.width >= 97)
                #expect(fill.height >= 113)
                #expect(fill.width == 97 || fill.height == 113)
            }
        }
    }

    @Test func `the largest integers as sides do not trap`() {
        let huge = PixelSize(width: .max, height: .max)
        #expect(huge.pixelCount == .max)
        #expect(huge.scaled(to: PixelSize(width: 10, height: 10), mode: .fit) == PixelSize(width: 10, height: 10))
        #expect(PixelSize(width: 1, height: 1).scaled(to: huge, mode: .fill, enlarging: true).isPositive)
        #expect(PixelSize(width: .min, height: 5).pixelCount == 0)
    }

    @Test func `a quarter turn swaps the sides`() {
        #expect(PixelSize(width: 2, height: 3).transposed == PixelSize(width: 3, height: 2))
    }
}
