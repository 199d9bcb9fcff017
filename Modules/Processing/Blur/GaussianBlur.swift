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
    package struct GaussianBlur: FramewiseProcessing {
        /// The maximum sigma in pixels.
        package static let maximumSigma = 4096.0
        /// The maximum number of bytes for the rows in flight: 1 GiB.
        package static let maximumBytes = 1 << 30

        /// The standard deviation in pixels. Values below 0.15 change nothing.
        package let sigma: Double

        package init(sigma: Double) { self.sigma = sigma }

        package var identifier: String { "blur:\(sigma)" }

        func processed(_ image: DecodedImage) throws(ImageProcessingError) -> DecodedImage {
            let pixels = image.pixels
            guard var blur = try makeBlurrer(for: image.rowHeader) else { return image.still(pixels) }
            let result = pixels.withUnsafeBytes { source in
                PixelBuffer(size: pixels.size, format: pixels.format, alphaMode: pixels.alphaMode) { memory, stride in
                    guard let from = source.baseAddress, var to = memory.baseAddress else { return }
                    for y in 0..<pixels.height {
                        blur.push(from + y * pixels.bytesPerRow)
                        while blur.pull(into: to) { to += stride }
                    }
                }
            }
            guard let result else { throw PixelLimits.noBuffer(for: pixels.size) }
            return image.still(result)
        }

        package func rows(into next: any PixelRowConsumer) -> any PixelRowConsumer { BlurConsumer(self, next: next) }

        /// Returns the blurrer for images with this header, or `nil` when the blur does not change them. Throws
        /// `invalidParameter` for an invalid sigma, and `tooLarge` when the rows in flight exceed ``maximumBytes``.
        func makeBlurrer(for header: PixelRowHeader) throws(ImageProcessingError) -> Blurrer? {
            guard isValid else {
                throw ImageProcessingError(.invalidParameter, "invalid blur sigma: \(sigma) pixels")
            }
            guard let kernel = BlurKernel(sigma: sigma) else { return nil }
            guard kernel.byteCount(for: header) <= Self.maximumBytes else {
                throw ImageProcessingError(
                    .tooLarge,
                    "cannot blur rows of \(header.size.width) pixels with a sigma of \(sigma): the rows need more than "
                        + "\(Self.maximumBytes) bytes; use a smaller sigma")
            }
            return Blurrer(header, kernel)
        }

        private var isValid: Bool { (0...Self.maximumSigma).contains(sigma) }

        /// Returns the number of bytes that the rows in flight need, or zero when the blur fails or changes nothing.
        func byteCount(for header: PixelRowHeader) -> Int {
            isValid ? BlurKernel(sigma: sigma)?.byteCount(for: header) ?? 0 : 0
        }
    }
}

/// A consumer that blurs rows as they arrive.
private final class BlurConsumer: PixelRowConsumer {
    private let blur: ImageProcessors.GaussianBlur
    private let next: any PixelRowConsumer
    /// The current stage, or `nil` when rows are forwarded unchanged.
    private var stage: Stage?

    /// A blurrer and the memory for one result row.
    private final class Stage {
        var blurrer: Blurrer
        let result: RowMemory

        init(_ blurrer: consuming Blurrer, _ result: RowMemory) {
            self.blurrer = blurrer
            self.result = result
        }
    }

    init(_ blur: ImageProcessors.GaussianBlur, next: any PixelRowConsumer) {
        self.blur = blur
        self.next = next
    }

    func begin(_ header: PixelRowHeader) throws {
        try PixelLimits.checkRows(of: header)
        stage = nil
        if let blurrer = try blur.makeBlurrer(for: header) {
            stage = Stage(blurrer, RowMemory(byteCount: header.bytesPerRow))
        }
        try next.begin(header)
    }

    func consume(_ row: RawSpan) throws {
        guard let stage else { return try next.consume(row) }
        row.withUnsafeBytes { row in
            guard let base = row.baseAddress else { return }
            stage.blurrer.push(base)
        }
        while stage.blurrer.pull(into: stage.result.base) { try next.consume(stage.result.buffer.bytes) }
    }

    func finish() throws { try next.finish() }

    func byteCount(for header: PixelRowHeader) -> Int {
        blur.byteCount(for: header).addingClamped(header.bytesPerRow).addingClamped(next.byteCount(for: header))
    }
}

/// The state of a blur over rows from top to bottom. Each blurred row is available as soon as its input rows are
/// complete.
struct Blurrer: ~Copyable {
    private let size: PixelSize
    private let layout: SampleLayout
    private let reach: Int
    private var across: RowBlurrer
    private var down: ColumnBlurrer
    /// The last row after the horizontal blur. It is pushed again for the rows beyond the top and bottom edges.
    private let line: Scratch<Float>
    private let result: Scratch<Float>
    private var taken = 0
    private var repeatsLeft = 0

    init(_ header: PixelRowHeader, _ kernel: BlurKernel) {
        size = header.size
        layout = SampleLayout(header.format, header.alphaMode)
        reach = kernel.reach
        let floats = layout.floatsPerRow(size.width)
        across = RowBlurrer(kernel, width: size.width, channels: layout.channels)
        down = ColumnBlurrer(kernel, floats: floats)
        line = Scratch(count: floats)
        result = Scratch(count: floats)
    }

    /// Adds the next row, which needs no alignment. The caller must call ``pull(into:)`` until it returns `false`
    /// before the next push. Rows after the last one are ignored.
    mutating func push(_ row: UnsafeRawPointer) {
        guard taken < size.height else { return }
        RowReader.read(row, width: size.width, layout: layout, into: across.input)
        across.blur(into: line.base)
        // The row itself, plus the repeated rows beyond the top and bottom edges.
        repeatsLeft = 1
        if taken == 0 { repeatsLeft += reach }
        taken += 1
        if taken == size.height { repeatsLeft += reach }
    }

    /// Writes the next blurred row to `out`. Returns `false` when the row needs further input or no rows are left.
    mutating func pull(into out: UnsafeMutableRawPointer) -> Bool {
        while repeatsLeft > 0 {
            repeatsLeft -= 1
            guard down.push(line.base, into: result.base) else { continue }
            RowWriter.write(result.base, width: size.width, layout: layout, to: out)
            return true
        }
        return false
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
