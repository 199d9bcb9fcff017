#if SVG
    @testable import AlcedoSVG
    import TestSupport
    import Testing

    @Suite struct CrossingEstimateTests {
        /// Lines between points of a square of 1,000 that follow each other in no order.
        private static let scribble =
            "M" + (0..<20_000).map { "\($0 &* 7919 % 1000),\($0 &* 104_729 % 997)" }.joined(separator: "L")

        private static func estimate(_ data: String) -> Double { measure(data).crossingCount }

        private static func measure(_ data: String) -> PathMeasure {
            var stepCount = CrossingEstimate.maximumStepCount
            return PathMeasure(Array(data.utf8)[...], stepCount: &stepCount)
        }

        @Test func `the estimate of random lines is near their crossings`() {
            var random = SeededGenerator(seed: 3)
            let points = (0..<401).map { _ in
                SIMD2(Double.random(in: 0..<100, using: &random), Double.random(in: 0..<100, using: &random))
            }
            func side(_ a: SIMD2<Double>, _ b: SIMD2<Double>, _ c: SIMD2<Double>) -> Bool {
                (b.x - a.x) * (c.y - a.y) > (b.y - a.y) * (c.x - a.x)
            }
            var count = 0.0
            for first in 0..<400 {
                for second in first + 1..<400 {
                    let (a, b, c, d) = (points[first], points[first + 1], points[second], points[second + 1])
                    if side(a, b, c) != side(a, b, d), side(c, d, a) != side(c, d, b) { count += 1 }
                }
            }

            let estimate = Self.estimate("M" + points.map { "\($0.x),\($0.y)" }.joined(separator: "L"))

            #expect(estimate > count * 0.7, "\(estimate) of \(count)")
            #expect(estimate < count * 3, "\(estimate) of \(count)")
        }

        @Test(arguments: [
            "M1e9 1e9", "L1e9 -1e9", "H1e12", "V-1e12", "M-1e9 0h1", "a1e9 1e9 0 0 1 1 1", "M1e9 1e9z",
            "M5 5q1e9 0 0 0", "M1 1M-1e15 1e15l1 1",
        ])
        func `something far outside does not lower the estimate`(far: String) {
            #expect(Self.estimate(Self.scribble + far) > Self.estimate(Self.scribble) * 0.7)
        }

        @Test func `as many lines far outside as inside do not lower the estimate`() {
            let far = (0..<20_000).map { "M\($0)e5 \($0 &* 7919 % 1000)e6h1" }.joined()

            #expect(Self.estimate(Self.scribble + far) > Self.estimate(Self.scribble) * 0.5)
        }

        @Test(arguments: [
            ("a staircase", (0..<50_000).map { _ in "h1v1" }.joined()),
            ("letters", (0..<2_000).map { "m\($0 % 50) 9h5v5h-5zm1 1h3v3h-3z" }.joined()),
            ("circles", (0..<5_000).map { "M\($0 % 70 * 10) \($0 / 70 * 10)a4 4 0 1 0 8 0a4 4 0 1 0 -8 0z" }.joined()),
            ("squares", (0..<20_000).map { "M\($0 % 140 * 3) \($0 / 140 * 3)h1v1h-1z" }.joined()),
            ("a coast", (0..<100_000).map { "l\($0 * 7 % 5 - 2) \($0 % 50_000 < 25_000 ? 1 : -1)" }.joined()),
        ])
        func `the estimate of an ordinary outline grows no faster than its lines`(name: String, data: String) {
            let measure = Self.measure("M0 0\(data)")

            #expect(measure.crossingCount < 4 * measure.segmentCount, "\(name): \(measure.crossingCount)")
        }

        @Test(arguments: ["L1e400 1 0 0", "L1e308 -1e308 -1e308 1e308", "H1e200V-1e200L0 0"])
        func `coordinates that are not finite, or nearly, are no reason for fewer crossings`(data: String) {
            let measure = Self.measure("M0 0" + String(repeating: data, count: 50))

            #expect(measure.crossingCount >= measure.segmentCount)
        }

        @Test func `a flat path has an estimate, too`() {
            #expect(Self.estimate("M0 0" + String(repeating: "V9V0", count: 1_000)) > 100_000)
            #expect(Self.estimate("M0 0" + String(repeating: "L0 0", count: 1_000)).isFinite)
        }

        @Test func `vertical lines that begin and end at many heights are cut at each`() {
            var random = SeededGenerator(seed: 5)
            let lines = (0..<1_000).map { index in
                let start = Int.random(in: 0..<5_000, using: &random)
                return "M\(index) \(start)V\(Int.random(in: 5_000..<10_000, using: &random))"
            }
            let equal = (0..<1_000).map { "M\($0) 0V10000" }.joined()

            #expect(Self.estimate(lines.joined()) > 500_000)
            #expect(Self.estimate(lines.map { $0 + "z" }.joined()) > 500_000)
            #expect(Self.estimate(equal) < 100_000)
            // One oblique line is enough for another algorithm, which finds no crossings here.
            #expect(Self.estimate(equal + "M0 0L1 2") < 100_000)
        }

        @Test func `the line that closes an open outline counts`() {
            var random = SeededGenerator(seed: 6)
            let parts = (0..<1_000).map { _ in
                let (x, end) = (Int.random(in: 0..<1_000, using: &random), Int.random(in: 0..<1_000, using: &random))
                return "M\(x) 0V1000H\(end)"
            }
            let closed = Self.estimate(parts.map { $0 + "z" }.joined())

            #expect(closed > 300_000)
            #expect(Self.estimate(parts.joined()) > closed * 0.7)
        }

        @Test func `points in memory and visited cells are bounded, so the time is linear`() {
            var sample = PointSample()
            for index in 0..<100_000 { sample.add(SIMD2(Double(index % 1_000), Double(index % 997))) }
            #expect(sample.points.count == 4_096)
            #expect(sample.minimum == SIMD2(0, 0))
            #expect(sample.maximum == SIMD2(999, 996))

            var estimate = CrossingEstimate(sample)
            for _ in 0..<100 { estimate.add(SIMD2(0, 0), SIMD2(999, 996)) }
            #expect((100 * 30...100 * 2 * 34).contains(estimate.stepCount))

            // Enough lines across the whole path end the estimate.
            for _ in 0..<1_200_000 { estimate.add(SIMD2(0, 996), SIMD2(999, 0)) }
            #expect(estimate.count == .infinity)
            #expect(estimate.stepCount < 1 << 26)
        }

        @Test func `all paths of a document use up the same number of steps`() {
            let data = Array("M0 0\(String(repeating: "L99 99 0 99", count: 20))".utf8)[...]
            var stepCount = CrossingEstimate.maximumStepCount
            let first = PathMeasure(data, stepCount: &stepCount)
            let used = CrossingEstimate.maximumStepCount - stepCount

            #expect(used >= 40)
            #expect(first.crossingCount < 32 * 40 * 40)

            // The steps of one path and a half.
            stepCount = used + used / 2
            #expect(PathMeasure(data, stepCount: &stepCount).crossingCount == first.crossingCount)
            #expect(stepCount == used / 2)
            for _ in 0..<2 {
                #expect(PathMeasure(data, stepCount: &stepCount).crossingCount == 32 * 40 * 40)
                #expect(stepCount == 0)
            }
        }

        @Test func `a sample has points of the whole path`() {
            var sample = PointSample()
            for index in 0..<100_000 { sample.add(SIMD2(Double(index), 0)) }

            #expect(Set(sample.points.map { Int($0.x) / 10_000 }) == Set(0..<10))
        }
    }
#endif
