#if SVG
    import AlcedoLibc

    /// Upper bounds of a path: its extent, its length and the number of its segments. They are in the path's own units.
    /// Source: SVG 1.1, section 8.3.
    struct PathMeasure {
        private(set) var length = 0.0
        /// The area of the triangles between the segments and the starts of their subpaths, which contain all that is
        /// filled between lines, and of the rectangles around curves.
        private var fanArea = 0.0
        private(set) var segmentCount = 0.0
        /// The sum of the square roots of the lengths of curves, with which the number of their lines grows.
        private(set) var curveRoot = 0.0
        private var minimum = SIMD2<Double>(repeating: .infinity)
        private var maximum = SIMD2<Double>(repeating: -.infinity)
        private var point = SIMD2<Double>.zero
        private var start = SIMD2<Double>.zero
        /// The distance of the last control point from the end of its segment.
        private var reachOfControl = 0.0

        /// The area of the rectangle around all points; 0 for an empty path.
        var area: Double {
            let size = maximum - minimum
            guard size.x >= 0, size.y >= 0 else { return 0 }
            let area = size.x * size.y
            return area.isNaN ? .infinity : area
        }

        /// The area that is filled at most.
        var filledArea: Double { min(area, fanArea) }

        /// The estimated number of points where segments cross each other. Curves are drawn as several lines. Outlines
        /// of horizontal and vertical lines only are cut at all heights where one of them ends, which counts as well.
        private(set) var crossingCount = 0.0

        /// The ends of the segments.
        private var ends = PointSample()
        /// The estimate, when the path is read for the second time.
        private var estimate: CrossingEstimate?
        /// Whether all lines are horizontal or vertical.
        private var isRectilinear = true

        /// The number of segments that cross each other too rarely to matter.
        private static let smallCount = 16.0

        /// Measures a path up to its first error, where drawing ends too. O(bytes).
        ///
        /// - Parameter stepCount: The number of cells that the estimate of crossings may visit, which is reduced by
        ///   those that it has. When it is used up, as many segments cross each other as can.
        init(_ data: ArraySlice<UInt8>, stepCount: inout Int) {
            read(data)
            let maximum = segmentCount * segmentCount * 32
            guard segmentCount > Self.smallCount else {
                crossingCount = segmentCount * segmentCount / 4
                return
            }
            guard stepCount > 0 else {
                crossingCount = maximum
                return
            }
            var second = Self(CrossingEstimate(ends, maximumStepCount: stepCount))
            second.read(data)
            stepCount -= min(stepCount, second.estimate?.stepCount ?? 0)
            var count = second.estimate?.count ?? maximum
            if isRectilinear { count = max(count, Self.crossingsOfCut * (second.estimate?.cutCount ?? 0)) }
            crossingCount = min(maximum, count)
        }

        /// The number of crossings that take as long as to cut a vertical line at the end of another one.
        private static let crossingsOfCut = 2.0

        private init(_ estimate: CrossingEstimate) { self.estimate = estimate }

        private mutating func read(_ data: ArraySlice<UInt8>) {
            var numbers = SVGNumbers(data)
            var command: UInt8 = 0
            defer { closeSubpath() }
            while let byte = numbers.peek {
                if XMLCharacter.isNameStart(byte) {
                    command = byte
                    numbers.skip()
                    if command | 0x20 == UInt8(ascii: "z") {
                        advance(to: start)
                        continue
                    }
                }
                guard add(command, &numbers) else { return }
                // Further points of a moveto are lines.
                if command == UInt8(ascii: "M") { command = UInt8(ascii: "L") }
                if command == UInt8(ascii: "m") { command = UInt8(ascii: "l") }
            }
        }

        /// Adds the line that closes an open part of the path where it is filled. A stroke has a second side instead.
        private mutating func closeSubpath() {
            if point != start { addLine(point, start) }
        }

        /// Adds one segment. Returns false when its numbers are missing.
        private mutating func add(_ command: UInt8, _ numbers: inout SVGNumbers) -> Bool {
            let isRelative = command & 0x20 != 0
            let origin = isRelative ? point : .zero
            switch command | 0x20 {
            case UInt8(ascii: "m"):
                guard let next = Self.point(&numbers) else { return false }
                closeSubpath()
                point = origin + next
                start = point
                include(point)
            case UInt8(ascii: "l"): return addPoints(1, origin, &numbers)
            case UInt8(ascii: "t"): return addPoints(1, origin, &numbers, isSmooth: true)
            case UInt8(ascii: "q"): return addPoints(2, origin, &numbers)
            case UInt8(ascii: "s"): return addPoints(2, origin, &numbers, isSmooth: true)
            case UInt8(ascii: "c"): return addPoints(3, origin, &numbers)
            case UInt8(ascii: "h"):
                guard let x = numbers.next() else { return false }
                advance(to: SIMD2(origin.x + x, point.y))
            case UInt8(ascii: "v"):
                guard let y = numbers.next() else { return false }
                advance(to: SIMD2(point.x, origin.y + y))
            case UInt8(ascii: "a"):
                guard let radii = Self.point(&numbers), let angle = numbers.next(), let isLarge = numbers.nextFlag(),
                    let isPositive = numbers.nextFlag(), let end = Self.point(&numbers)
                else { return false }
                addArc(EllipticalArc(radii, angle, isLarge: isLarge, isPositive: isPositive), to: origin + end)
            default: return false
            }
            return true
        }

        private mutating func addPoints(
            _ count: Int, _ origin: SIMD2<Double>, _ numbers: inout SVGNumbers, isSmooth: Bool = false
        ) -> Bool {
            let lengthBefore = length
            defer {
                if count > 1 || isSmooth {
                    let curveLength = length - lengthBefore
                    curveRoot += curveLength.squareRoot()
                    fanArea += curveLength * curveLength / 2
                }
            }
            for index in 0..<count {
                guard let next = Self.point(&numbers) else { return false }
                // The first control point of a smooth curve is the reflection of the last one, so it is as far away.
                let reflected = isSmooth && index == 0 ? reachOfControl : 0
                include(point - SIMD2(repeating: reflected))
                include(point + SIMD2(repeating: reflected))
                length += 2 * reflected
                if reflected > 0 { addLine(point, point + SIMD2(reflected, reflected)) }
                advance(to: origin + next)
                // The control point of a smooth quadratic curve is not among the numbers.
                if count == 1 { reachOfControl += reflected }
            }
            return true
        }

        private mutating func addArc(_ arc: EllipticalArc, to end: SIMD2<Double>) {
            let from = point
            // Radii that are too small for the distance are enlarged.
            let radius = max(abs(arc.radii.x), abs(arc.radii.y), distance(from, end) / 2)
            length += 2 * .pi * radius
            curveRoot += (2 * .pi * radius).squareRoot()
            let reach = SIMD2(repeating: 2 * radius)
            for center in [from, end] {
                include(center - reach)
                include(center + reach)
            }
            reachOfControl = distance(from, end)
            length += reachOfControl
            segmentCount += 1
            for next in arc.points(from: from, to: end) {
                addLine(point, next)
                point = next
            }
            point = end
            include(end)
        }

        private mutating func advance(to end: SIMD2<Double>) {
            reachOfControl = distance(point, end)
            length += reachOfControl
            segmentCount += 1
            addLine(point, end)
            point = end
            include(end)
        }

        /// Adds a line to the sample, or to the estimate.
        private mutating func addLine(_ from: SIMD2<Double>, _ to: SIMD2<Double>) {
            if from.x != to.x, from.y != to.y { isRectilinear = false }
            guard estimate == nil else {
                estimate?.add(from, to)
                return
            }
            ends.add(from)
            ends.add(to)
            let (first, second) = (from - start, to - start)
            fanArea += abs(first.x * second.y - first.y * second.x) / 2
        }

        private mutating func include(_ point: SIMD2<Double>) {
            minimum = pointwiseMin(minimum, point)
            maximum = pointwiseMax(maximum, point)
        }

        private func distance(_ a: SIMD2<Double>, _ b: SIMD2<Double>) -> Double {
            let difference = a - b
            return (difference * difference).sum().squareRoot()
        }

        private static func point(_ numbers: inout SVGNumbers) -> SIMD2<Double>? {
            guard let x = numbers.next(), let y = numbers.next() else { return nil }
            return SIMD2(x, y)
        }
    }

    /// The part of an ellipse between two points. Source: SVG 1.1, appendix F.6.
    private struct EllipticalArc {
        let radii: SIMD2<Double>
        /// The angle between the first axis of the ellipse and that of the path, in degrees.
        let angle: Double
        let isLarge: Bool
        let isPositive: Bool

        init(_ radii: SIMD2<Double>, _ angle: Double, isLarge: Bool, isPositive: Bool) {
            (self.radii, self.angle) = (radii, angle)
            (self.isLarge, self.isPositive) = (isLarge, isPositive)
        }

        private static let lineCount = 8

        /// Returns the ends of lines that replace the arc.
        func points(from: SIMD2<Double>, to: SIMD2<Double>) -> [SIMD2<Double>] {
            let turn = angle.truncatingRemainder(dividingBy: 360) * .pi / 180
            let (sine, cosine) = (sin(turn), cos(turn))
            let radii = SIMD2(abs(self.radii.x), abs(self.radii.y))
            let half = (from - to) / 2
            // The first point in the circle of radius 1, seen from the middle between both points.
            var first = SIMD2(cosine * half.x + sine * half.y, cosine * half.y - sine * half.x) / radii
            let square = (first * first).sum()
            guard square > 0, square.isFinite else { return [to] }
            let enlargement = max(1, square.squareRoot())
            first /= enlargement
            let offset = max(0, 1 / min(1, square) - 1).squareRoot() * (isLarge == isPositive ? -1 : 1)
            let center = SIMD2(first.y, -first.x) * offset
            let start = atan2(first.y - center.y, first.x - center.x)
            var sweep = atan2(-first.y - center.y, -first.x - center.x) - start
            if isPositive, sweep < 0 { sweep += 2 * .pi }
            if !isPositive, sweep > 0 { sweep -= 2 * .pi }
            return (1...Self.lineCount).map { index in
                guard index < Self.lineCount else { return to }
                let direction = start + sweep * Double(index) / Double(Self.lineCount)
                let point = (SIMD2(cos(direction), sin(direction)) + center) * radii * enlargement
                let turned = SIMD2(cosine * point.x - sine * point.y, sine * point.x + cosine * point.y)
                return turned + (from + to) / 2
            }
        }
    }
#endif
