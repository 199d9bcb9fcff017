import AlcedoCore

/// A connected area of an image that may be a face: an upright ellipse in a color of skin, light or dark, that differs
/// from its surroundings. Its bounds are shares of the sides of the image.
///
/// Areas are found by joining neighbors in the order of their difference, the most similar ones first. Each area that
/// arises is judged before it grows into another one, so that a face is found before its hair or background joins it.
///
/// The limits were fitted to drawn faces of nine tones on photos, brown, beige, noise and other colors. Of 1,000 others
/// that fit, crops without areas cut 80, and with them 21: small ones, and ones close to the color of the surroundings.
/// The limits are strict, because an area in a picture without faces may move its part away from the most salient one.
struct FaceArea {
    let x: Range<Double>
    let y: Range<Double>
    /// How clear the area is, to compare areas of an image: more with its size, its difference from the surroundings,
    /// and its similarity with an ellipse.
    let quality: Double

    /// Returns the areas of a small image, of which the colors are samples from 0 to 1. Areas may contain others.
    ///
    /// - Complexity: O(pixels), apart from the almost constant time to find the area of a pixel.
    static func areas(of colors: [SIMD4<Double>], in size: PixelSize) -> [FaceArea] {
        let width = size.width
        let colors = colors.map { SIMD4<Int>(($0 * 255).rounded(.toNearestOrAwayFromZero)) }
        // Pairs of neighbors by their difference.
        var pairs = [[(Int, Int)]](repeating: [], count: 256)
        for step in [1, width] {
            for index in colors.indices {
                let next = index + step
                guard step == 1 ? next % width != 0 : next < colors.count else { continue }
                pairs[min(255, difference(colors[index], colors[next]))].append((index, next))
            }
        }
        var groups = colors.indices.map { Group(at: SIMD2($0 % width, $0 / width), color: colors[$0]) }
        var parents = Array(colors.indices)
        func root(of index: Int) -> Int {
            var index = index
            while parents[index] != index {
                parents[index] = parents[parents[index]]
                index = parents[index]
            }
            return index
        }
        var areas: [FaceArea] = []
        for (one, other) in pairs.joined() {
            var (large, small) = (root(of: one), root(of: other))
            guard large != small else { continue }
            areas += [groups[large], groups[small]].compactMap { $0.face(on: colors, in: size) }
            if groups[large].count < groups[small].count { swap(&large, &small) }
            groups[large].add(groups[small])
            parents[small] = large
        }
        return areas
    }

    /// Returns the largest difference of two colors in a channel.
    private static func difference(_ one: SIMD4<Int>, _ other: SIMD4<Int>) -> Int {
        let difference = one &- other
        return max(abs(difference.x), abs(difference.y), abs(difference.z))
    }

    /// Connected pixels, with the sums that describe their shape and color.
    private struct Group {
        private(set) var count = 1
        private var sum: SIMD2<Int>
        private var squares: SIMD2<Int>
        private var product: Int
        private var low: SIMD2<Int>
        private var high: SIMD2<Int>
        private var color: SIMD4<Int>

        init(at place: SIMD2<Int>, color: SIMD4<Int>) {
            (sum, low, high) = (place, place, place)
            squares = place &* place
            product = place.x * place.y
            self.color = color
        }

        mutating func add(_ other: Group) {
            count += other.count
            sum &+= other.sum
            squares &+= other.squares
            product += other.product
            low = pointwiseMin(low, other.low)
            high = pointwiseMax(high, other.high)
            color &+= other.color
        }

        /// Returns the area if it has the size, the shape and the color of a face.
        func face(on colors: [SIMD4<Int>], in size: PixelSize) -> FaceArea? {
            guard count >= 14 else { return nil }
            let extent = SIMD2<Double>(high &- low &+ 1)
            let short = Double(min(size.width, size.height))
            // The area of an ellipse is 0.785 of that of its bounds.
            guard extent.y >= 0.09 * short, max(extent.x, extent.y) <= 0.7 * short,
                (1.05...1.7).contains(extent.y / extent.x),
                (0.68...0.88).contains(Double(count) / (extent.x * extent.y)), isSkin
            else { return nil }
            // The ratio of the area to that of the ellipse with the same moments.
            let mean = SIMD2<Double>(sum) / Double(count)
            let variance = SIMD2<Double>(squares) / Double(count) - mean * mean + 1 / 12
            let covariance = Double(product) / Double(count) - mean.x * mean.y
            let spread = (variance.x * variance.y - covariance * covariance).squareRoot()
            let likeness = Double(count) / (4 * .pi * spread)
            guard likeness >= 0.87 else { return nil }
            let contrast = contrast(on: colors, in: size)
            guard contrast >= 20 else { return nil }
            return FaceArea(
                x: Double(low.x) / Double(size.width)..<Double(high.x + 1) / Double(size.width),
                y: Double(low.y) / Double(size.height)..<Double(high.y + 1) / Double(size.height),
                quality: (contrast * Double(count)).squareRoot() * likeness * likeness * likeness * likeness)
        }

        /// Whether the mean color is one of skin, of which the hue is similar for all tones.
        private var isSkin: Bool {
            let total = Double(color.x + color.y + color.z)
            return total >= 60 * Double(count) && (0.35...0.53).contains(Double(color.x) / total)
                && (0.265...0.348).contains(Double(color.y) / total) && Double(color.y) >= 0.97 * Double(color.z)
        }

        /// Returns the difference between the mean color and the surroundings: the corners of the bounds and a pixel
        /// beyond each edge. One of them may be similar, such as that at the neck.
        private func contrast(on colors: [SIMD4<Int>], in size: PixelSize) -> Double {
            let middle = SIMD2((low.x + high.x) / 2, (low.y + high.y) / 2)
            let places = [
                low, high, SIMD2(low.x, high.y), SIMD2(high.x, low.y), SIMD2(low.x - 2, middle.y),
                SIMD2(high.x + 2, middle.y), SIMD2(middle.x, low.y - 2), SIMD2(middle.x, high.y + 2),
            ]
            let mean = SIMD4<Double>(color) / Double(count)
            let differences = places.compactMap { place -> Double? in
                guard (0..<size.width).contains(place.x), (0..<size.height).contains(place.y) else { return nil }
                let difference = SIMD4<Double>(colors[place.y * size.width + place.x]) - mean
                return max(abs(difference.x), abs(difference.y), abs(difference.z))
            }
            return differences.sorted()[differences.count / 5]
        }
    }
}
