#if SVG
    /// Upper bounds of a path: its extent, its length and the number of its segments. They are in the path's own units.
    /// Source: SVG 1.1, section 8.3.
    struct PathMeasure {
        private(set) var length = 0.0
        private(set) var segmentCount = 0.0
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

        /// The estimated number of points where segments cross each other: that of segments that lie in random
        /// directions at random places, each as long as an average one. Curves are drawn as several lines.
        var crossingCount: Double {
            let size = maximum - minimum
            // An outline of nearly no area has no more crossings than one that is slightly higher.
            let extent = max(size.x, size.y, .leastNormalMagnitude)
            let area = max(size.x, extent / 1_000) * max(size.y, extent / 1_000)
            let count = length * length / (.pi * area)
            return count.isNaN ? .infinity : min(count, segmentCount * segmentCount * 32)
        }

        /// Measures a path up to its first error, where drawing ends too. O(bytes).
        init(_ data: ArraySlice<UInt8>) {
            var numbers = SVGNumbers(data)
            var command: UInt8 = 0
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

        /// Adds one segment. Returns false when its numbers are missing.
        private mutating func add(_ command: UInt8, _ numbers: inout SVGNumbers) -> Bool {
            let isRelative = command & 0x20 != 0
            let origin = isRelative ? point : .zero
            switch command | 0x20 {
            case UInt8(ascii: "m"):
                guard let next = Self.point(&numbers) else { return false }
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
                guard let radii = Self.point(&numbers), numbers.next() != nil, numbers.nextFlag() != nil,
                    numbers.nextFlag() != nil, let end = Self.point(&numbers)
                else { return false }
                addArc(radii, to: origin + end)
            default: return false
            }
            return true
        }

        private mutating func addPoints(
            _ count: Int, _ origin: SIMD2<Double>, _ numbers: inout SVGNumbers, isSmooth: Bool = false
        ) -> Bool {
            for index in 0..<count {
                guard let next = Self.point(&numbers) else { return false }
                // The first control point of a smooth curve is the reflection of the last one, so it is as far away.
                let reflected = isSmooth && index == 0 ? reachOfControl : 0
                include(point - SIMD2(repeating: reflected))
                include(point + SIMD2(repeating: reflected))
                length += 2 * reflected
                advance(to: origin + next)
                // The control point of a smooth quadratic curve is not among the numbers.
                if count == 1 { reachOfControl += reflected }
            }
            return true
        }

        private mutating func addArc(_ radii: SIMD2<Double>, to end: SIMD2<Double>) {
            let from = point
            // Radii that are too small for the distance are enlarged.
            let radius = max(abs(radii.x), abs(radii.y), distance(from, end) / 2)
            length += 2 * .pi * radius
            let reach = SIMD2(repeating: 2 * radius)
            for center in [from, end] {
                include(center - reach)
                include(center + reach)
            }
            advance(to: end)
        }

        private mutating func advance(to end: SIMD2<Double>) {
            reachOfControl = distance(point, end)
            length += reachOfControl
            segmentCount += 1
            point = end
            include(end)
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
#endif
