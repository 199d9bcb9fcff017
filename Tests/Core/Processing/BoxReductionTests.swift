import AlcedoCore
import Testing

@Suite struct BoxReductionTests {
    private func factor(
        _ width: Int, _ height: Int, _ target: (Int, Int), _ mode: TargetSize.ContentMode = .fit,
        _ orientation: ImageOrientation = .up
    ) -> Int {
        BoxReduction(
            from: PixelSize(width: width, height: height), orientation: orientation,
            towards: TargetSize(width: target.0, height: target.1, mode: mode)
        ).factor
    }

    @Test func `the factor is the largest that leaves enough pixels`() {
        let table: [(size: (Int, Int), target: (Int, Int), mode: TargetSize.ContentMode, factor: Int)] = [
            ((100, 80), (50, 50), .fit, 2), ((100, 80), (51, 51), .fit, 1), ((100, 80), (34, 34), .fit, 2),
            ((100, 80), (33, 33), .fit, 3), ((100, 80), (40, 40), .fill, 2), ((100, 80), (20, 40), .fill, 2),
            ((100, 80), (200, 200), .fit, 1), ((100, 80), (1, 1), .fit, 80), ((5, 5), (1, 1), .fill, 5),
            ((9000, 9000), (1, 1), .fit, 4096),
        ]
        for row in table {
            #expect(factor(row.size.0, row.size.1, row.target, row.mode) == row.factor, "\(row)")
        }
    }

    @Test(arguments: ImageOrientation.allCases) func `a target applies to the upright image`(
        orientation: ImageOrientation
    ) {
        #expect(factor(100, 40, (25, 80), .fit, orientation) == (orientation.swapsSides ? 1 : 4))
        #expect(factor(100, 40, (10, 25), .fit, orientation) == (orientation.swapsSides ? 4 : 10))
    }

    @Test func `empty sizes are not reduced`() {
        #expect(factor(0, 5, (1, 1)) == 1)
        #expect(factor(5, 5, (0, 1)) == 1)
        #expect(factor(5, 5, (-1, -1)) == 1)
        #expect(BoxReduction(from: PixelSize(width: 9, height: 9), towards: nil).factor == 1)
    }

    @Test func `an incomplete last column or row counts in full`() {
        let reduction = BoxReduction(
            from: PixelSize(width: 10, height: 9), towards: TargetSize(width: 3, height: 3))
        #expect(reduction.factor == 3)
        #expect(reduction.size(of: PixelSize(width: 10, height: 9)) == PixelSize(width: 4, height: 3))
        #expect(reduction.size(of: PixelSize(width: 1, height: 3)) == PixelSize(width: 1, height: 1))
    }
}
