import AlcedoLibc

/// Pixels in memory: rows, top row first, each beginning at a 64-byte boundary.
///
/// A value: copies share memory until one of them is changed. Read it through spans, without copying, on the way to a
/// file, a socket or a texture.
public struct PixelBuffer: Sendable {
    /// Rows begin at multiples of this many bytes.
    package static let rowAlignment = PixelStorage.alignment

    /// Width and height in pixels.
    public let size: PixelSize
    /// How the samples lie.
    public let format: PixelFormat
    /// How colour relates to alpha.
    public let alphaMode: AlphaMode
    /// Bytes from the beginning of one row to the beginning of the next; a multiple of 64.
    public let bytesPerRow: Int
    private var storage: PixelStorage

    /// Pixels in a row.
    package var width: Int { size.width }
    /// Number of rows.
    package var height: Int { size.height }

    /// Bytes of one row that hold pixels: width times the pixel's size, without the padding.
    package var usedBytesPerRow: Int { size.width * format.bytesPerPixel }

    /// Bytes the pixels occupy, padding included.
    package var byteCount: Int { storage.byteCount }

    /// The bytes that a buffer of this size and format occupies, or nil when there is no such buffer: a side below one
    /// pixel, or a product that does not fit.
    package static func byteCount(size: PixelSize, format: PixelFormat) -> Int? {
        guard size.isPositive else { return nil }
        let (used, overflow) = size.width.multipliedReportingOverflow(by: format.bytesPerPixel)
        guard !overflow, used <= Int.max - rowAlignment else { return nil }
        let bytesPerRow = (used + rowAlignment - 1) / rowAlignment * rowAlignment
        let (total, tooLarge) = bytesPerRow.multipliedReportingOverflow(by: size.height)
        return tooLarge || total > Int.max - rowAlignment ? nil : total
    }

    /// Makes a buffer and lets `initialize` write every row.
    ///
    /// The padding at the end of each row is set to nought, so that no stale memory leaves the process with the image.
    ///
    /// - Parameters:
    ///   - size: In pixels.
    ///   - format: How the samples lie.
    ///   - alphaMode: How colour relates to alpha, in what `initialize` writes.
    ///   - initialize: Gets the uninitialised memory and the bytes from row to row; must write all pixels.
    /// - Throws: What `initialize` throws.
    /// - Returns: nil when a side is below one pixel, the size has no representation in bytes, or the system refuses the memory.
    public init?<E: Error>(
        size: PixelSize,
        format: PixelFormat,
        alphaMode: AlphaMode,
        initialize: (_ memory: UnsafeMutableRawBufferPointer, _ bytesPerRow: Int) throws(E) -> Void
    ) throws(E) {
        guard let byteCount = Self.byteCount(size: size, format: format),
            let storage = PixelStorage(byteCount: byteCount)
        else { return nil }
        self.size = size
        self.format = format
        self.alphaMode = alphaMode
        bytesPerRow = byteCount / size.height
        self.storage = storage
        try initialize(UnsafeMutableRawBufferPointer(start: storage.base, count: byteCount), bytesPerRow)
        clearPadding()
    }

    /// Makes a buffer with every byte nought: transparent black, or black. nil as for the other initialiser.
    public init?(size: PixelSize, format: PixelFormat, alphaMode: AlphaMode) {
        self.init(size: size, format: format, alphaMode: alphaMode) { memory, _ in
            memory.initializeMemory(as: UInt8.self, repeating: 0)
        }
    }

    /// Gives the buffer back while some other copy of it holds the memory.
    var weakReference: @Sendable () -> PixelBuffer? {
        { [size, format, alphaMode, bytesPerRow, weak storage] in
            storage.map {
                PixelBuffer(size: size, format: format, alphaMode: alphaMode, bytesPerRow: bytesPerRow, storage: $0)
            }
        }
    }

    /// Whether both are one picture in one memory. O(1); equal pictures in memories of their own are not told equal.
    package func sharesMemory(with other: PixelBuffer) -> Bool { storage === other.storage }

    /// All bytes, padding included.
    public var bytes: RawSpan {
        @_lifetime(borrow self)
        get {
            let bytes = UnsafeRawBufferPointer(start: storage.base, count: storage.byteCount)
            return _overrideLifetime(bytes.bytes, borrowing: self)
        }
    }

    /// The pixels of row `y`, without padding. Traps unless `0 <= y < height`.
    @_lifetime(borrow self)
    public func row(_ y: Int) -> RawSpan {
        bytes.extracting(y * bytesPerRow..<y * bytesPerRow + usedBytesPerRow)
    }

    /// All bytes for C functions. The pointer is valid inside `body` only. Throws what `body` does.
    public func withUnsafeBytes<Result, E: Error>(
        _ body: (UnsafeRawBufferPointer) throws(E) -> Result
    ) throws(E) -> Result {
        try body(UnsafeRawBufferPointer(start: storage.base, count: storage.byteCount))
    }

    /// All bytes for changing; copies them first when another value shares them. Throws what `body` does.
    public mutating func withUnsafeMutableBytes<Result, E: Error>(
        _ body: (UnsafeMutableRawBufferPointer) throws(E) -> Result
    ) throws(E) -> Result {
        if !isKnownUniquelyReferenced(&storage) { storage = storage.copy() }
        return try body(UnsafeMutableRawBufferPointer(start: storage.base, count: storage.byteCount))
    }

    /// Returns a buffer of the same memory that is read in another alpha mode, for decoders that learn only at the end that
    /// an image is opaque. O(1); no sample changes.
    package func reinterpreted(as mode: AlphaMode) -> PixelBuffer {
        PixelBuffer(size: size, format: format, alphaMode: mode, bytesPerRow: bytesPerRow, storage: storage)
    }

    private init(
        size: PixelSize, format: PixelFormat, alphaMode: AlphaMode, bytesPerRow: Int, storage: PixelStorage
    ) {
        self.size = size
        self.format = format
        self.alphaMode = alphaMode
        self.bytesPerRow = bytesPerRow
        self.storage = storage
    }

    private func clearPadding() {
        let padding = bytesPerRow - usedBytesPerRow
        guard padding > 0 else { return }
        for y in 0..<size.height {
            let start = storage.base + y * bytesPerRow + usedBytesPerRow
            start.initializeMemory(as: UInt8.self, repeating: 0, count: padding)
        }
    }
}

extension PixelBuffer: Equatable {
    /// Whether both describe the same picture in the same format; padding does not count. O(*w* × *h*).
    public static func == (a: PixelBuffer, b: PixelBuffer) -> Bool {
        guard a.size == b.size, a.format == b.format, a.alphaMode == b.alphaMode else { return false }
        return a.withUnsafeBytes { left in
            b.withUnsafeBytes { right in
                (0..<a.height).allSatisfy { y in
                    let range = y * a.bytesPerRow..<y * a.bytesPerRow + a.usedBytesPerRow
                    return left[range].elementsEqual(right[range])
                }
            }
        }
    }
}

extension PixelBuffer {
    /// The picture with colour multiplied by alpha, rounded to nearest. O(*w* × *h*) for straight pixels with alpha;
    /// every other buffer comes back as it is.
    public func premultiplied() -> PixelBuffer {
        converted(from: .straight, to: .premultiplied, AlphaArithmetic.premultiply)
    }

    /// The picture with colour divided by alpha, rounded to nearest; colour under alpha 0 becomes black. O(*w* × *h*)
    /// for premultiplied pixels; every other buffer comes back as it is.
    public func unpremultiplied() -> PixelBuffer {
        converted(from: .premultiplied, to: .straight, AlphaArithmetic.unpremultiply)
    }

    private func converted(
        from old: AlphaMode, to new: AlphaMode, _ convert: (UnsafeMutableRawBufferPointer, PixelFormat) -> Void
    ) -> PixelBuffer {
        guard format == .rgba8 || format == .rgba16, alphaMode == old else { return self }
        var result = reinterpreted(as: new)
        let (used, stride, rows, format) = (usedBytesPerRow, bytesPerRow, height, format)
        result.withUnsafeMutableBytes { memory in
            for y in 0..<rows {
                convert(UnsafeMutableRawBufferPointer(rebasing: memory[y * stride..<y * stride + used]), format)
            }
        }
        return result
    }
}

/// The memory behind pixel buffers: one allocation, aligned to 64 bytes.
///
/// `@unchecked` because of the raw pointer. No lock is needed: bytes are written only before the object is shared, and
/// by an owner that has just seen that it alone holds the object, as the standard library's arrays do.
private final class PixelStorage: @unchecked Sendable {
    static let alignment = 64
    /// A terabyte. No machine has it for one image, and some allocators, those of the sanitizers among them, end the process
    /// that asks for more.
    private static let maximumByteCount = 1 << 40

    let base: UnsafeMutableRawPointer
    let byteCount: Int
    private let block: UnsafeMutableRawPointer

    /// Allocates `byteCount` bytes that the caller must initialise; nil when the system refuses.
    init?(byteCount: Int) {
        // Aligned by hand: the C library's aligned allocation of a large block takes fresh pages from the system each
        // time where a plain one reuses what was freed, and decoding into fresh pages takes a fifth longer.
        guard byteCount <= Self.maximumByteCount, let block = malloc(byteCount + Self.alignment) else { return nil }
        self.block = block
        base = block.alignedUp(toMultipleOf: Self.alignment)
        self.byteCount = byteCount
    }

    func copy() -> PixelStorage {
        guard let other = PixelStorage(byteCount: byteCount) else {
            preconditionFailure("no memory for a copy of \(byteCount) bytes of pixels")
        }
        other.base.copyMemory(from: base, byteCount: byteCount)
        return other
    }

    deinit { free(block) }
}
