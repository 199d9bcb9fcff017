public import AlcedoCore

private import CSampleKernels

extension ImageProcessing where Self == ImageProcessors.BuiltIn {
    /// Blurs the image with a Gaussian.
    ///
    /// Works on every pixel format and keeps it. Samples are blurred as stored, with color multiplied by alpha, so that
    /// transparent pixels contribute no color. Beyond the edges, the outermost pixels are repeated.
    ///
    /// Up to a sigma of 4, the Gaussian is summed directly and truncated at 3.5 sigma. Results are accurate to one
    /// 8-bit level. Above 4, three running averages approximate it at a cost per pixel that does not depend on sigma.
    /// Results are then within 2 % of the height of an edge, which is 5 levels between black and white.
    ///
    /// Source: Gwosdek, Grewenig, Bruhn, Weickert, "Theoretical Foundations of Gaussian Convolution by Extended Box
    /// Filtering", SSVM 2011.
    ///
    /// - Parameter sigma: The standard deviation in pixels, from 0 to 4,096. Values below 0.15 change nothing.
    ///   Processing throws `invalidParameter` for values outside the range, and `tooLarge` when the rows in flight need
    ///   more than 1 GiB or there is no memory for the result.
    /// - Complexity: O(*w* × *h* × sigma) up to a sigma of 4, O(*w* × *h* + (*w* + *h*) × sigma) above. Whole images
    ///   and rows both need memory for about 6 × sigma to 7 × sigma rows of floats in addition to the result.
    public static func blur(sigma: Double) -> Self { Self(ImageProcessors.GaussianBlur(sigma: sigma)) }
}

extension ImageProcessors {
    /// The processor of `.blur(sigma:)`.
    package struct GaussianBlur: NeighborhoodProcessing {
        /// The maximum sigma in pixels.
        package static let maximumSigma = 4096.0

        /// The standard deviation in pixels. Values below 0.15 change nothing.
        package let sigma: Double

        package init(sigma: Double) { self.sigma = sigma }

        package var identifier: String { "blur:\(sigma)" }

        func makeFilter(for header: PixelRowHeader) throws(ImageProcessingError) -> (any RowFilter)? {
            guard isValid else {
                throw ImageProcessingError(.invalidParameter, "invalid blur sigma: \(sigma) pixels")
            }
            guard let kernel = BlurKernel(sigma: sigma) else { return nil }
            return BlurredRows(header, kernel)
        }

        private var isValid: Bool { (0...Self.maximumSigma).contains(sigma) }

        func filterByteCount(for header: PixelRowHeader) -> Int {
            guard isValid, let kernel = BlurKernel(sigma: sigma) else { return 0 }
            return kernel.byteCount(
                width: header.size.width, channels: SampleLayout(header.format, header.alphaMode).channels)
        }
    }
}

/// A blur of rows of samples.
private final class BlurredRows: RowFilter {
    private let width: Int
    private let layout: SampleLayout
    private let blurrer: Blurrer

    init(_ header: PixelRowHeader, _ kernel: BlurKernel) {
        width = header.size.width
        layout = SampleLayout(header.format, header.alphaMode)
        blurrer = Blurrer(kernel, size: header.size, channels: layout.channels)
    }

    func push(_ row: UnsafeRawPointer) {
        RowReader.read(row, width: width, layout: layout, into: blurrer.input)
        blurrer.push()
    }

    func pull(into out: UnsafeMutableRawPointer) -> Bool {
        guard let row = blurrer.pull() else { return false }
        RowWriter.write(row, width: width, layout: layout, to: out)
        return true
    }
}

/// The state of a blur over rows of floats, from top to bottom. Each blurred row is available as soon as its input rows
/// are complete.
final class Blurrer {
    private let height: Int
    private let reach: Int
    private var across: RowBlurrer
    private var down: ColumnBlurrer
    /// The last row after the horizontal blur. It is pushed again for the rows beyond the top and bottom edges.
    private let line: Scratch<Float>
    private let result: Scratch<Float>
    private var taken = 0
    private var repeatsLeft = 0

    /// Creates a blurrer for rows of pixels with one or four floats.
    init(_ kernel: BlurKernel, size: PixelSize, channels: Int) {
        height = size.height
        reach = kernel.reach
        let floats = SampleLayout.floatsPerRow(size.width, channels: channels)
        across = RowBlurrer(kernel, width: size.width, channels: channels)
        down = ColumnBlurrer(kernel, floats: floats)
        line = Scratch(count: floats)
        result = Scratch(count: floats)
    }

    /// The position at which the caller writes the next row before ``push()``.
    var input: UnsafeMutablePointer<Float> { across.input }

    /// Adds the row at ``input``. The caller must call ``pull()`` until it returns `nil` before the next push. Rows
    /// after the last one are ignored.
    func push() {
        guard taken < height else { return }
        across.blur(into: line.base)
        // The row itself, plus the repeated rows beyond the top and bottom edges.
        repeatsLeft = 1
        if taken == 0 { repeatsLeft += reach }
        taken += 1
        if taken == height { repeatsLeft += reach }
    }

    /// Returns the next blurred row, which is valid until the next call, or `nil` when the row needs further input or
    /// no rows are left.
    func pull() -> UnsafePointer<Float>? {
        while repeatsLeft > 0 {
            repeatsLeft -= 1
            if down.push(line.base, into: result.base) { return UnsafePointer(result.base) }
        }
        return nil
    }
}

/// A blurrer along one row of floats.
private struct RowBlurrer: ~Copyable {
    private let kernel: BlurKernel
    private let width: Int
    private let channels: Int
    private let reach: Int
    /// The row with `reach` extra pixels on each side. The passes alternate between this buffer and `other`.
    private let padded: Scratch<Float>
    private let other: Scratch<Float>
    private let pointers: Scratch<UnsafePointer<Float>>

    init(_ kernel: BlurKernel, width: Int, channels: Int) {
        self.kernel = kernel
        self.width = width
        self.channels = channels
        reach = kernel.reach
        // The kernels process 16 floats at a time and read past the last pixel.
        let floats = (width + 2 * reach) * channels + 16
        padded = Scratch(count: floats)
        switch kernel {
        case .weights(let weights):
            other = Scratch(count: 0)
            pointers = Scratch(count: weights.count)
            for index in weights.indices { pointers.base[index] = UnsafePointer(padded.base + index * channels) }
        case .boxes:
            other = Scratch(count: floats)
            pointers = Scratch(count: 0)
        }
    }

    /// The position at which the caller writes the row before ``blur(into:)``.
    var input: UnsafeMutablePointer<Float> { padded.base + reach * channels }

    /// Blurs the row at ``input``. May write up to the next multiple of 16 floats.
    mutating func blur(into out: UnsafeMutablePointer<Float>) {
        extend()
        switch kernel {
        case .weights(let weights):
            // Blurring along a row equals blurring down the columns of the row and its shifted copies.
            weights.withUnsafeBufferPointer { weights in
                guard let weights = weights.baseAddress else { return }
                alcedo_sum_rows(pointers.base, weights, reach * 2 + 1, (width * channels + 15) / 16 * 16, out)
            }
        case .boxes(let radius, let edge):
            let box = RunningAverage(radius: radius, edge: edge)
            var length = width + 2 * reach
            length = box.average(padded.base, length, channels: channels, into: other.base)
            length = box.average(other.base, length, channels: channels, into: padded.base)
            _ = box.average(padded.base, length, channels: channels, into: out)
        }
    }

    /// Repeats the outermost pixels beyond the edges.
    private func extend() {
        let last = (width - 1) * channels
        for offset in 1...reach {
            for channel in 0..<channels {
                input[channel - offset * channels] = input[channel]
                input[last + offset * channels + channel] = input[last + channel]
            }
        }
    }
}
