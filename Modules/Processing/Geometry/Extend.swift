public import AlcedoCore

extension ImageProcessing where Self == ImageProcessors.BuiltIn {
    /// Adds margins around the image.
    ///
    /// ```swift
    /// let request = ImageRequest(url: url, processors: [.resize(width: 320), .extend(top: 8, bottom: 8, with: .edge)])
    /// ```
    ///
    /// Works on every pixel format and on every frame of an animation. The format is kept if it can hold the margins.
    /// Under a color that is not opaque, opaque images become images with straight alpha, and `gray8` and `rgbx8`
    /// become `rgba8`; under an opaque color other than gray, `gray8` becomes `rgbx8`. 16-bit formats change likewise.
    /// Sides refer to the rows in memory, before ``/AlcedoCore/DecodedImage/orientation`` is applied.
    ///
    /// Processing throws `invalidParameter` for a negative margin. It throws `tooLarge` when there is no memory for the
    /// result, or when the result exceeds 2²⁸ pixels or 2¹⁶ pixels on a side.
    ///
    /// - Parameters:
    ///   - top: The number of rows added above the image. Default: 0.
    ///   - left: The number of columns added on the left. Default: 0.
    ///   - bottom: The number of rows added below the image. Default: 0.
    ///   - right: The number of columns added on the right. Default: 0.
    ///   - fill: The contents of the margins. Default: transparent.
    /// - Complexity: O(pixels of the result). Needs one new buffer for a whole image, and two rows of memory for
    ///   arriving rows. With `.mirror`, arriving rows are collected into a whole image.
    public static func extend(
        top: Int = 0, left: Int = 0, bottom: Int = 0, right: Int = 0,
        with fill: ImageProcessors.MarginFill = .color(.clear)
    ) -> Self {
        Self(ImageProcessors.Extend(top: top, left: left, bottom: bottom, right: right, with: fill))
    }

    /// Adds margins of the same width on all sides. Otherwise behaves like `extend(top:left:bottom:right:with:)`.
    public static func extend(by margin: Int, with fill: ImageProcessors.MarginFill = .color(.clear)) -> Self {
        extend(top: margin, left: margin, bottom: margin, right: margin, with: fill)
    }

    /// Adds margins until the image has at least this size. A side that is already longer is kept. Otherwise behaves
    /// like `extend(top:left:bottom:right:with:)`.
    ///
    /// Processing throws `invalidParameter` when a side of `size` is below 1, or when `anchor` is invalid.
    ///
    /// - Parameters:
    ///   - size: The minimum size of the result in pixels.
    ///   - anchor: The position of the image in the result, rounded to the left and up. Default: `.center`.
    ///   - fill: The contents of the margins. Default: transparent.
    public static func extend(
        to size: PixelSize, at anchor: ImageProcessors.Anchor = .center,
        with fill: ImageProcessors.MarginFill = .color(.clear)
    ) -> Self {
        Self(ImageProcessors.Extend(to: size, at: anchor, with: fill))
    }
}

extension ImageProcessors {
    /// The contents of the margins that `.extend` adds to an image.
    public enum MarginFill: Sendable, Hashable {
        /// A color, which may be transparent.
        case color(PixelColor)
        /// The nearest pixel of the image.
        case edge
        /// The mirrored image, which begins with the pixels at the edge. Wide margins repeat it, mirrored and not
        /// mirrored by turns.
        case mirror

        /// The name of the fill in cache keys. It must not change between releases.
        fileprivate var identifier: String {
            switch self {
            case .color(let color): color.description
            case .edge: "edge"
            case .mirror: "mirror"
            }
        }
    }

    /// The processor of `.extend(top:left:bottom:right:with:)`, `.extend(by:with:)` and `.extend(to:at:with:)`.
    package struct Extend: FramewiseProcessing {
        private enum Margins: Hashable {
            case sides(top: Int, left: Int, bottom: Int, right: Int)
            case size(PixelSize, Anchor)
        }

        private let margins: Margins
        private let fill: MarginFill

        package init(top: Int, left: Int, bottom: Int, right: Int, with fill: MarginFill = .color(.clear)) {
            margins = .sides(top: top, left: left, bottom: bottom, right: right)
            self.fill = fill
        }

        package init(to size: PixelSize, at anchor: Anchor = .center, with fill: MarginFill = .color(.clear)) {
            margins = .size(size, anchor)
            self.fill = fill
        }

        package var identifier: String {
            switch margins {
            case .sides(let top, let left, let bottom, let right):
                "extend:\(top);\(left);\(bottom);\(right),\(fill.identifier)"
            case .size(let size, let anchor):
                "extend:\(size.width)x\(size.height),\(anchor.identifier),\(fill.identifier)"
            }
        }

        func processed(_ image: DecodedImage) throws(ImageProcessingError) -> DecodedImage {
            let pixels = image.pixels
            let plan = try plan(for: image.rowHeader)
            guard plan.result.size != pixels.size else { return image.still(pixels) }
            let extender = RowExtender(plan)
            let result = pixels.withUnsafeBytes { source in
                PixelBuffer(
                    size: plan.result.size, format: plan.result.format, alphaMode: plan.result.alphaMode
                ) { memory, bytesPerRow in
                    guard let from = source.baseAddress, let to = memory.baseAddress else { return }
                    for y in 0..<plan.result.size.height {
                        let row = to + y * bytesPerRow
                        if let line = plan.fill.index(y - plan.y, in: pixels.height) {
                            extender.extend(from + line * pixels.bytesPerRow, into: row)
                        } else {
                            extender.fillMargin(row)
                        }
                    }
                }
            }
            guard let result else { throw PixelLimits.noBuffer(for: plan.result.size) }
            return image.still(result)
        }

        package func rows(into next: any PixelRowConsumer) -> any PixelRowConsumer {
            switch fill {
            case .color, .edge: ExtendedRows(plan, next: next)
            case .mirror: WholeImageStage(next: next) { try process($0) }
            }
        }

        /// Returns the position of the image in the result.
        ///
        /// - Throws: `invalidParameter` for invalid parameters, and `tooLarge` when the result exceeds the limits.
        private func plan(for header: PixelRowHeader) throws(ImageProcessingError) -> ExtensionPlan {
            var result = header
            let origin: (x: Int, y: Int)
            switch margins {
            case .sides(let top, let left, let bottom, let right):
                guard min(top, left, bottom, right) >= 0 else {
                    throw ImageProcessingError(.invalidParameter, "invalid margins: \(identifier)")
                }
                origin = (left, top)
                result.size = PixelSize(
                    width: header.size.width.addingClamped(left).addingClamped(right),
                    height: header.size.height.addingClamped(top).addingClamped(bottom))
            case .size(let size, let anchor):
                guard size.isPositive else {
                    throw ImageProcessingError(.invalidParameter, "invalid extended size: \(size) pixels")
                }
                result.size = PixelSize(
                    width: max(size.width, header.size.width), height: max(size.height, header.size.height))
                origin = try anchor.origin(of: header.size, in: result.size)
            }
            try PixelLimits.check(result.size, from: header.size)
            guard result.size != header.size else {
                return ExtensionPlan(source: header, result: header, x: 0, y: 0, fill: fill)
            }
            result.reduction = nil
            if case .color(let color) = fill {
                result.storedModel = nil
                if !color.isOpaque {
                    result.format = header.format.colored
                    if header.alphaMode == .opaque { result.alphaMode = .straight }
                } else if header.format.isGray, !color.isGray {
                    result.format = header.format.opaqueColored
                }
            }
            return ExtensionPlan(source: header, result: result, x: origin.x, y: origin.y, fill: fill)
        }
    }
}

extension ImageProcessors.MarginFill {
    /// Returns the pixel of a side of `count` pixels that is shown at the position `index`, which may lie outside;
    /// nil for the color.
    fileprivate func index(_ index: Int, in count: Int) -> Int? {
        switch self {
        case .color: return (0..<count).contains(index) ? index : nil
        case .edge: return max(0, min(index, count - 1))
        case .mirror:
            let period = 2 * count
            let position = (index % period + period) % period
            return position < count ? position : period - 1 - position
        }
    }
}

/// The rows of an image and of the result, and the position of the image in the result.
private struct ExtensionPlan {
    let source: PixelRowHeader
    let result: PixelRowHeader
    let x: Int
    let y: Int
    let fill: ImageProcessors.MarginFill

    /// Whether the pixels of the image have the same bytes in the result.
    var keepsPixels: Bool { source.format == result.format && source.alphaMode == result.alphaMode }
}

/// Adds margins on the left and right of rows.
private final class RowExtender {
    private let plan: ExtensionPlan
    private let pixelBytes: Int
    /// The pixel of the color; zero for other fills.
    private let color: Scratch<UInt8>
    /// The floats of a row of the image, if its format changes.
    private let floats: PixelRow?

    /// Creates an extender. The result must fit in a buffer.
    init(_ plan: ExtensionPlan) {
        self.plan = plan
        pixelBytes = plan.result.format.bytesPerPixel
        color = Scratch(count: pixelBytes)
        floats = plan.keepsPixels ? nil : PixelRow(plan.source.size.width)
        if case .color(let value) = plan.fill {
            let pixel = PixelRow(1)
            pixel.base[0] = value.samples
            PixelCoding(format: plan.result.format, alphaMode: plan.result.alphaMode).write(
                pixel.base, 1, to: UnsafeMutableRawPointer(color.base))
        }
    }

    /// Writes a row of the result that contains the row `row` of the image, which needs no alignment.
    func extend(_ row: UnsafeRawPointer, into out: UnsafeMutableRawPointer) {
        let width = plan.source.size.width
        let image = out + plan.x * pixelBytes
        if let floats {
            PixelCoding(format: plan.source.format, alphaMode: plan.source.alphaMode).read(
                row, width, into: floats.base)
            PixelCoding(format: plan.result.format, alphaMode: plan.result.alphaMode).write(
                floats.base, width, to: image)
        } else {
            image.copyMemory(from: row, byteCount: width * pixelBytes)
        }
        for x in 0..<plan.x { fill(x, of: out) }
        for x in plan.x + width..<plan.result.size.width { fill(x, of: out) }
    }

    /// Writes a row of the color.
    func fillMargin(_ out: UnsafeMutableRawPointer) {
        for x in 0..<plan.result.size.width { copy(UnsafeRawPointer(color.base), to: out, x) }
    }

    private func fill(_ x: Int, of out: UnsafeMutableRawPointer) {
        let pixel = plan.fill.index(x - plan.x, in: plan.source.size.width).map {
            UnsafeRawPointer(out + (plan.x + $0) * pixelBytes)
        }
        copy(pixel ?? UnsafeRawPointer(color.base), to: out, x)
    }

    private func copy(_ pixel: UnsafeRawPointer, to out: UnsafeMutableRawPointer, _ x: Int) {
        (out + x * pixelBytes).copyMemory(from: pixel, byteCount: pixelBytes)
    }
}

/// A consumer that adds margins of a color or of the edge to arriving rows.
private final class ExtendedRows: PixelRowConsumer {
    private let makePlan: (PixelRowHeader) throws(ImageProcessingError) -> ExtensionPlan
    private let next: any PixelRowConsumer
    private var stage: (plan: ExtensionPlan, extender: RowExtender, row: RowMemory)?
    private var y = 0

    init(
        _ makePlan: @escaping (PixelRowHeader) throws(ImageProcessingError) -> ExtensionPlan,
        next: any PixelRowConsumer
    ) {
        self.makePlan = makePlan
        self.next = next
    }

    func begin(_ header: PixelRowHeader) throws {
        try PixelLimits.checkRows(of: header)
        let plan = try makePlan(header)
        try PixelLimits.checkRows(of: plan.result)
        (stage, y) = (nil, 0)
        try next.begin(plan.result)
        guard plan.result.size != header.size else { return }
        let (extender, row) = (RowExtender(plan), RowMemory(byteCount: plan.result.bytesPerRow))
        stage = (plan, extender, row)
        guard case .color = plan.fill else { return }
        extender.fillMargin(row.base)
        for _ in 0..<plan.y { try next.consume(row.buffer.bytes) }
    }

    func consume(_ row: RawSpan) throws {
        guard let (plan, extender, result) = stage else { return try next.consume(row) }
        row.withUnsafeBytes { bytes in
            guard let base = bytes.baseAddress else { return }
            extender.extend(base, into: result.base)
        }
        if y == 0, plan.fill == .edge {
            for _ in 0..<plan.y { try next.consume(result.buffer.bytes) }
        }
        y += 1
        try next.consume(result.buffer.bytes)
    }

    func finish() throws {
        if let (plan, extender, row) = stage {
            // The memory still has the last row, which the margin of the edge repeats.
            if plan.fill != .edge { extender.fillMargin(row.base) }
            for _ in plan.y + y..<plan.result.size.height { try next.consume(row.buffer.bytes) }
        }
        try next.finish()
    }

    /// Returns the bytes of a row of the result, and of a row of floats if the format changes. Invalid parameters are
    /// an error when the rows begin.
    func byteCount(for header: PixelRowHeader) -> Int {
        guard let plan = try? makePlan(header), plan.result.size != header.size else {
            return next.byteCount(for: header)
        }
        let floats = plan.keepsPixels ? 0 : header.size.width * MemoryLayout<SIMD4<Float>>.stride
        return floats.addingClamped(plan.result.bytesPerRow).addingClamped(next.byteCount(for: plan.result))
    }
}
