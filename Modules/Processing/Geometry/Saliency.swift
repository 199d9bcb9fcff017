import AlcedoCore

/// The parts of an image that attract the eye: edges, skin and saturated colors, of which warm ones count more.
///
/// The weights were fitted to the positions that libvips chooses with `attention`, of which the idea is: the smoothed
/// sum of these properties has its maximum at the subject. `Tests/Benchmarks/compare-attention` measures the
/// distance. Skin is the direction of the color, as in smartcrop.js (Wagner, 2014), which also counts gray a little.
///
/// A part that would cut the clearest area that looks like a face is moved until the face is inside, if it fits.
///
/// The arithmetic is that of IEEE 754, so that every machine chooses the same position.
struct Saliency {
    /// The maximum side of the reduction in pixels. It is small so that shapes count more than texture.
    private static let maximumSide = 32
    /// The maximum side in pixels of the reduction in which faces are found.
    private static let maximumSideForFaces = 64

    private let size: PixelSize
    private var values: [Double]
    private let faces: [FaceArea]

    /// Computes the saliency of an image of any format.
    ///
    /// - Throws: `tooLarge` when the image cannot be reduced.
    init(of pixels: PixelBuffer) throws(ImageProcessingError) {
        let detailed = try Self.reduction(of: pixels, to: Self.maximumSideForFaces)
        faces = FaceArea.areas(of: Self.colors(of: detailed), in: detailed.size)
        let reduced = try Self.reduction(of: pixels, to: Self.maximumSide)
        size = reduced.size
        let colors = Self.colors(of: reduced)
        let light = colors.map(Self.luminance)
        let (width, height) = (size.width, size.height)
        values = colors.indices.map { index in
            let (x, y) = (index % width, index / width)
            let neighbors =
                light[y * width + max(0, x - 1)] + light[y * width + min(width - 1, x + 1)]
                + light[max(0, y - 1) * width + x] + light[min(height - 1, y + 1) * width + x]
            return 5 * abs(4 * light[index] - neighbors) + Self.interest(of: colors[index], light[index])
        }
    }

    private static func reduction(
        of pixels: PixelBuffer, to side: Int
    ) throws(ImageProcessingError) -> PixelBuffer {
        let size = PixelSize(width: side, height: side)
        let reduction = ImageProcessors.Resize(to: size, sampling: ResizeSampling(.box))
        return try reduction.processed(DecodedImage(pixels: pixels)).pixels
    }

    /// Returns the anchor of a part of the image: the position of the most salient surroundings, whose size depends on
    /// that of the part. Of equal positions, the one closest to the center is chosen. The position is moved by the
    /// least distance that brings the clearest face inside the part.
    ///
    /// - Parameters:
    ///   - part: The size of the part in pixels of the image.
    ///   - bounds: The size of the image.
    func anchor(of part: PixelSize, in bounds: PixelSize) -> ImageProcessors.Anchor {
        let width = Double(part.width) / Double(bounds.width) * Double(size.width)
        let height = Double(part.height) / Double(bounds.height) * Double(size.height)
        // Three means of 2 × radius + 1 pixels have the variance of a Gaussian.
        let sigma = max(1, (width * width + height * height).squareRoot() / 10)
        let radius = Int((((4 * sigma * sigma + 1).squareRoot() - 1) / 2).rounded())
        var map = self
        for _ in 0..<3 {
            map.average(count: size.width, step: 1, lines: size.height, stride: size.width, radius)
            map.average(count: size.height, step: size.width, lines: size.width, stride: 1, radius)
        }
        // The sums of equal values differ by rounding errors.
        let limit = (map.values.max() ?? 0) * (1 - 1e-9)
        let candidates = map.values.indices.filter { map.values[$0] >= limit }
        let distance = { (index: Int) -> Int in
            let (x, y) = (2 * (index % size.width) + 1 - size.width, 2 * (index / size.width) + 1 - size.height)
            return x * x + y * y
        }
        guard let best = candidates.min(by: { distance($0) < distance($1) }) else { return .center }
        let x = Self.share(of: best % size.width, in: size.width)
        let y = Self.share(of: best / size.width, in: size.height)
        if let face = map.clearestFace,
            let movedX = Self.share(x, showing: face.x, in: Double(part.width) / Double(bounds.width)),
            let movedY = Self.share(y, showing: face.y, in: Double(part.height) / Double(bounds.height))
        {
            return .focus(x: movedX, y: movedY)
        }
        return .focus(x: x, y: y)
    }

    /// The clearest face, of which the saliency counts as well.
    private var clearestFace: FaceArea? {
        let quality = { (face: FaceArea) -> Double in
            let x = Int((face.x.lowerBound + face.x.upperBound) / 2 * Double(size.width))
            let y = Int((face.y.lowerBound + face.y.upperBound) / 2 * Double(size.height))
            return face.quality * values[min(y, size.height - 1) * size.width + min(x, size.width - 1)]
        }
        return faces.max { quality($0) < quality($1) }
    }

    /// Returns the focus closest to `share` with which a part of the given length shows a face with a margin, or `nil`
    /// if the face does not fit. All numbers are shares of a side.
    private static func share(_ share: Double, showing face: Range<Double>, in length: Double) -> Double? {
        let extent = face.upperBound - face.lowerBound
        guard extent <= length else { return nil }
        let margin = min(0.12 * extent + 0.5 / Double(maximumSideForFaces), (length - extent) / 2)
        let start = max(0, min(share - length / 2, 1 - length))
        let moved = min(
            max(start, min(1, face.upperBound + margin) - length), max(0, face.lowerBound - margin))
        return moved == start ? share : max(0, min(moved + length / 2, 1))
    }

    /// Returns the middle of a pixel as a share of the side, or the center if it belongs to the pixel.
    private static func share(of position: Int, in count: Int) -> Double {
        abs(2 * position + 1 - count) <= 1 ? 0.5 : (Double(position) + 0.5) / Double(count)
    }

    /// Replaces each value of `lines` lines by the mean of the values at most `radius` away on its line.
    private mutating func average(count: Int, step: Int, lines: Int, stride: Int, _ radius: Int) {
        var sums = [Double](repeating: 0, count: count + 1)
        for line in 0..<lines {
            let start = line * stride
            for index in 0..<count { sums[index + 1] = sums[index] + values[start + index * step] }
            for index in 0..<count {
                let (low, high) = (max(0, index - radius), min(count, index + radius + 1))
                values[start + index * step] = (sums[high] - sums[low]) / Double(high - low)
            }
        }
    }

    /// Returns the samples from 0 to 1 of an image on gray.
    private static func colors(of pixels: PixelBuffer) -> [SIMD4<Double>] {
        let coding = PixelCoding(format: pixels.format, alphaMode: pixels.alphaMode)
        let row = PixelRow(pixels.width)
        return (0..<pixels.height).flatMap { y in
            pixels.row(y).withUnsafeBytes { bytes in
                if let base = bytes.baseAddress { coding.read(base, pixels.width, into: row.base) }
            }
            return (0..<pixels.width).map { x in
                let pixel = SIMD4<Double>(row.base[x])
                return pixel * pixel.w + 0.5 * (1 - pixel.w)
            }
        }
    }

    /// Returns the luminance in percent of white. A cubic polynomial stands for the sRGB transfer function.
    private static func luminance(of color: SIMD4<Double>) -> Double {
        let light = color * (color * (color * 0.305306011 + 0.682171111) + 0.012522878)
        return 100 * (0.2126 * light.x + 0.7152 * light.y + 0.0722 * light.z)
    }

    /// Returns the interest in a color: in skin, of which dark colors have none, in saturation, and in red.
    private static func interest(of color: SIMD4<Double>, _ luminance: Double) -> Double {
        let range = max(color.x, color.y, color.z) - min(color.x, color.y, color.z)
        let saturation = 50 * range + 50 * max(0, color.x - color.y)
        guard luminance > 5 else { return saturation }
        let length = (color.x * color.x + color.y * color.y + color.z * color.z).squareRoot()
        let (x, y, z) = (color.x / length - 0.78, color.y / length - 0.57, color.z / length - 0.44)
        return saturation + 100 * max(0, 1 - (x * x + y * y + z * z).squareRoot() / 0.45)
    }
}
