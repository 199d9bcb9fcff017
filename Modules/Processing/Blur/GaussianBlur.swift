public import AlcedoCore

extension ImageProcessors {
    /// Blurs an image by a Gaussian.
    ///
    /// Works on every pixel format and keeps it, on samples as they are stored, with colour multiplied by alpha, so
    /// that transparent pixels give no colour. Beyond the edges the picture goes on with its outermost pixels.
    ///
    /// Up to a sigma of 4 the Gaussian itself is summed, cut off at 3.5 sigma: results are within a level of 8 bits.
    /// From there on three running averages stand in for it, whose cost for each pixel does not depend on sigma: within
    /// 2 % of the height of an edge, which is 5 levels between black and white.
    ///
    /// Source: Gwosdek, Grewenig, Bruhn, Weickert, "Theoretical Foundations of Gaussian Convolution by Extended Box
    /// Filtering", SSVM 2011.
    ///
    /// - Complexity: O(*w* × *h* × sigma) up to a sigma of 4, O(*w* × *h* + (*w* + *h*) × sigma)
    ///   above. Besides the result, memory for 6 sigma rows of floats, also for rows that arrive; processing throws
    ///   `tooLarge` when they need more than a gibibyte.
    public struct GaussianBlur: FramewiseProcessing, Hashable {
        /// The largest sigma, in pixels.
        package static let maximumSigma = 4096.0
        /// The most bytes that the rows in flight may take: a gibibyte.
        package static let maximumBytes = 1 << 30

        /// Standard deviation in pixels; 0 changes nothing.
        package let sigma: Double

        package init(sigma: Double) { self.sigma = sigma }

        public var identifier: String { "blur:\(sigma)" }

        func processed(_ image: DecodedImage) throws(ImageProcessingError) -> DecodedImage {
            let pixels = image.pixels
            guard var blur = try machine(for: image.rowHeader) else { return image.still(pixels) }
            let result = pixels.withUnsafeBytes { source in
                PixelBuffer(size: pixels.size, format: pixels.format, alphaMode: pixels.alphaMode) { memory, stride in
                    guard let from = source.baseAddress, var to = memory.baseAddress else { return }
                    for y in 0..<pixels.height {
                        blur.push(from + y * pixels.bytesPerRow)
                        while blur.pull(into: to) { to += stride }
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
}

extension ImageProcessing where Self == ImageProcessors.GaussianBlur {
    /// Blurs the image by a Gaussian whose standard deviation is `sigma` pixels, from 0 to 4,096; 0 changes nothing.
    /// Processing throws `invalidParameter` for others.
    public static func blur(sigma: Double) -> Self { Self(sigma: sigma) }
}

/// Blurs rows while they arrive.
private final class RowBlur: PixelRowConsumer {
    private let machine: (PixelRowHeader) throws(ImageProcessingError) -> BlurMachine?
    private let next: any PixelRowConsumer
    /// nil when rows pass as they are.
    private var stage: Stage?

    /// A machine with the memory of the row it gives.
    private final class Stage {
        var machine: BlurMachine
        let result: RowMemory

        init(_ machine: consuming BlurMachine, _ result: RowMemory) {
            self.machine = machine
            self.result = result
        }
    }

    /// - Parameter machine: Makes what works on pictures of this kind; nil when they stay as they are.
    init(
        _ machine: @escaping (PixelRowHeader) throws(ImageProcessingError) -> BlurMachine?, next: any PixelRowConsumer
    ) {
        self.machine = machine
        self.next = next
    }

    func begin(_ header: PixelRowHeader) throws {
        try PixelLimits.checkRows(of: header)
        stage = nil
        if let machine = try machine(header) {
            stage = Stage(machine, RowMemory(byteCount: header.bytesPerRow))
        }
        try next.begin(header)
    }

    func consume(_ row: RawSpan) throws {
        guard let stage else { return try next.consume(row) }
        row.withUnsafeBytes { row in
            guard let base = row.baseAddress else { return }
            stage.machine.push(base)
        }
        while stage.machine.pull(into: stage.result.base) { try next.consume(stage.result.buffer.bytes) }
    }

    func finish() throws { try next.finish() }
}

/// Blurs rows that are pushed in from top to bottom; blurred ones are there to be taken as soon as what they are made of
/// has come.
struct BlurMachine: ~Copyable {
    private let size: PixelSize
    private let layout: SampleLayout
    private let reach: Int
    private var across: RowBlurrer
    private var down: ColumnBlurrer
    /// The outermost rows are repeated beyond the edges.
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

    /// Takes the next row, which needs no alignment. Before more come, ``pull(into:)`` must have said that there is none
    /// left. Rows beyond the last are left out.
    mutating func push(_ row: UnsafeRawPointer) {
        guard taken < size.height else { return }
        RowReader.read(row, width: size.width, layout: layout, into: across.input)
        across.blur(into: line.base)
        // The row itself, and at the top and the bottom those beyond.
        repeatsLeft = 1
        if taken == 0 { repeatsLeft += reach }
        taken += 1
        if taken == size.height { repeatsLeft += reach }
    }

    /// Writes the next blurred row to `out`; false when it needs rows that have not come, or there is none.
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
