public import AlcedoCore

/// Blurs an image by a Gaussian.
///
/// Works on every pixel format and keeps it, on samples as they are stored, with colour multiplied by alpha, so that
/// transparent pixels give no colour. Beyond the edges the picture goes on with its outermost pixels.
///
/// Up to a sigma of 4 the Gaussian itself is summed, cut off at 3.5 sigma: results are within a level of 8 bits. From
/// there on three running averages stand in for it, whose cost for each pixel does not depend on sigma: within 2 % of the height of an
/// edge, which is 5 levels between black and white.
///
/// Source: Gwosdek, Grewenig, Bruhn, Weickert, "Theoretical Foundations of Gaussian Convolution by Extended Box
/// Filtering", SSVM 2011.
///
/// - Complexity: O(*w* × *h* × sigma) up to a sigma of 4, O(*w* × *h* + (*w* + *h*) × sigma)
///   above. Besides the result, memory for 6 sigma rows
///   of floats, also for rows that arrive.
public struct GaussianBlur: ImageProcessing, Hashable {
    /// The largest sigma, in pixels.
    public static let maximumSigma = 4096.0
    /// The most bytes that the rows in flight may take: a gibibyte.
    public static let maximumBytes = 1 << 30

    /// Standard deviation in pixels; 0 changes nothing.
    public let sigma: Double

    /// - Parameter sigma: In pixels; ``process(_:)`` throws `invalidParameter` for one that is below 0, above
    ///   ``maximumSigma`` or no number.
    public init(sigma: Double) { self.sigma = sigma }

    public var identifier: String { "blur:\(sigma)" }

    /// - Throws: `invalidParameter`; `tooLarge` when the rows in flight would need more than ``maximumBytes``.
    public func process(_ image: DecodedImage) throws(ImageProcessingError) -> DecodedImage {
        let pixels = image.pixels
        guard var blur = try machine(for: image.rowHeader) else { return image.still(pixels) }
        let result = pixels.withUnsafeBytes { source in
            PixelBuffer(size: pixels.size, format: pixels.format, alphaMode: pixels.alphaMode) { memory, bytesPerRow in
                guard let from = source.baseAddress, var to = memory.baseAddress else { return }
                for y in 0..<pixels.height {
                    blur.push(from + y * pixels.bytesPerRow)
                    while blur.pull(into: to) { to += bytesPerRow }
                }
            }
        }
        guard let result else { throw ImageProcessingError(.tooLarge, "no buffer holds \(pixels.size) pixels") }
        return image.still(result)
    }

    public func rows(into next: any PixelRowConsumer) -> any PixelRowConsumer { RowBlur(machine, next: next) }

    /// What does the work on pictures of this kind; nil when they stay as they are.
    func machine(for header: PixelRowHeader) throws(ImageProcessingError) -> BlurMachine? {
        guard (0...Self.maximumSigma).contains(sigma) else {
            throw ImageProcessingError(.invalidParameter, "cannot blur with a sigma of \(sigma) pixels")
        }
        guard let kernel = BlurKernel(sigma: sigma) else { return nil }
        guard kernel.byteCount(for: header) <= Self.maximumBytes else {
            throw ImageProcessingError(
                .tooLarge, "a sigma of \(sigma) needs too much memory for rows of \(header.size.width) pixels")
        }
        return BlurMachine(header, kernel)
    }
}
