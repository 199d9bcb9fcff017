import AlcedoLibc
import Synchronization

/// The pixels of an image in memory, in rows from top to bottom. Each row begins at a 64-byte boundary.
///
/// ```swift
/// let buffer = PixelBuffer(size: PixelSize(width: 64, height: 64), format: .rgba8, alphaMode: .straight)
/// let firstRow = buffer?.row(0).byteCount  // 256
/// ```
///
/// A pixel buffer is a value: copies share memory until one of them is changed. Read the pixels through spans to write
/// them to a file, a socket or a texture without copying.
public struct PixelBuffer: Sendable {
    /// The alignment of rows in bytes.
    package static let rowAlignment = PixelStorage.alignment

    /// The width and height in pixels.
    public let size: PixelSize
    /// The layout of the samples.
    public let format: PixelFormat
    /// The relation of color to alpha.
    public let alphaMode: AlphaMode
    /// The number of bytes from the beginning of one row to the beginning of the next; a multiple of 64.
    public let bytesPerRow: Int
    private var storage: PixelStorage

    /// The number of pixels in a row.
    public var width: Int { size.width }
    /// The number of rows.
    public var height: Int { size.height }

    /// The number of bytes in one row that hold pixels: width times pixel size, without padding.
    public var usedBytesPerRow: Int { size.width * format.bytesPerPixel }

    /// The number of bytes that all rows occupy, including padding.
    public var byteCount: Int { storage.byteCount }

    /// Returns the number of bytes that a buffer of this size and format occupies, or nil when such a buffer is
    /// impossible: a side is less than one pixel, or the number overflows.
    package static func byteCount(size: PixelSize, format: PixelFormat) -> Int? {
        guard size.isPositive else { return nil }
        let (used, overflow) = size.width.multipliedReportingOverflow(by: format.bytesPerPixel)
        guard !overflow, used <= Int.max - rowAlignment else { return nil }
        let bytesPerRow = (used + rowAlignment - 1) / rowAlignment * rowAlignment
        let (total, tooLarge) = bytesPerRow.multipliedReportingOverflow(by: size.height)
        return tooLarge || total > Int.max - rowAlignment ? nil : total
    }

    /// Creates a buffer whose pixels `initialize` writes.
    ///
    /// The padding at the end of each row is set to zero, so that no stale memory leaves the process with the image.
    ///
    /// - Parameters:
    ///   - size: The size in pixels.
    ///   - format: The layout of the samples.
    ///   - alphaMode: The relation of color to alpha in the pixels that `initialize` writes.
    ///   - initialize: A closure that receives the uninitialized memory and the number of bytes from one row to the
    ///     next. It must write all pixels.
    /// - Throws: The error that `initialize` throws.
    /// - Returns: nil when a side is less than one pixel, the number of bytes overflows, or the memory cannot be
    ///   allocated.
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

    /// Creates a buffer with all bytes zero: transparent black, or black in formats without alpha. Returns nil when a
    /// side is less than one pixel, the number of bytes overflows, or the memory cannot be allocated.
    ///
    /// In the format `rgbx8`, and in an opaque image with alpha samples, the caller must then set the fourth sample of
    /// each pixel to its maximum.
    public init?(size: PixelSize, format: PixelFormat, alphaMode: AlphaMode) {
        self.init(size: size, format: format, alphaMode: alphaMode) { memory, _ in
            memory.initializeMemory(as: UInt8.self, repeating: 0)
        }
    }

    /// A closure that returns the buffer while another copy of it keeps the memory alive, and nil after that.
    var weakReference: @Sendable () -> PixelBuffer? {
        storage.isWeaklyReferenced.store(true, ordering: .releasing)
        return { [size, format, alphaMode, bytesPerRow, weak storage] in
            storage.map {
                PixelBuffer(size: size, format: format, alphaMode: alphaMode, bytesPerRow: bytesPerRow, storage: $0)
            }
        }
    }

    /// Whether both buffers use the same memory. O(1). Equal pixels in separate memory do not count.
    package func sharesMemory(with other: PixelBuffer) -> Bool { storage === other.storage }

    /// All bytes, including padding.
    public var bytes: RawSpan {
        @_lifetime(borrow self)
        get {
            let bytes = UnsafeRawBufferPointer(start: storage.base, count: storage.byteCount)
            return _overrideLifetime(bytes.bytes, borrowing: self)
        }
    }

    /// Returns the pixels of row `y`, without padding. Traps unless `0 <= y < height`.
    @_lifetime(borrow self)
    public func row(_ y: Int) -> RawSpan {
        bytes.extracting(y * bytesPerRow..<y * bytesPerRow + usedBytesPerRow)
    }

    /// Calls `body` with a pointer to all bytes, for C functions. The pointer is valid only inside `body`. Throws the
    /// error that `body` throws.
    public func withUnsafeBytes<Result, E: Error>(
        _ body: (UnsafeRawBufferPointer) throws(E) -> Result
    ) throws(E) -> Result {
        try body(UnsafeRawBufferPointer(start: storage.base, count: storage.byteCount))
    }

    /// Calls `body` with a mutable pointer to all bytes. Copies the bytes first when another buffer shares them or a
    /// memory cache could find them by a weak reference, and traps when the memory for the copy cannot be allocated.
    /// Throws the error that `body` throws.
    public mutating func withUnsafeMutableBytes<Result, E: Error>(
        _ body: (UnsafeMutableRawBufferPointer) throws(E) -> Result
    ) throws(E) -> Result {
        // A weak reference must not find changed pixels, and must not become a strong one during the change.
        if !isKnownUniquelyReferenced(&storage) || storage.isWeaklyReferenced.load(ordering: .acquiring) {
            storage = storage.copy()
        }
        return try body(UnsafeMutableRawBufferPointer(start: storage.base, count: storage.byteCount))
    }

    /// The number of rows after which a decoder reports rows: all, unless the memory belongs to a lease.
    package var rowsPerReport: Int { storage.lease == nil ? height : max(1, (512 << 10) / bytesPerRow) }

    /// Reports that the first `count` rows will not change any more. Their receiver can then copy them while the
    /// decoder decodes the others. Does nothing without a lease.
    package func reportRows(_ count: Int) {
        if count < height { storage.lease?.didFinishRows(count, of: self) }
    }

    /// Returns a buffer with the same memory and another alpha mode. O(1); no sample changes. Decoders use it when they
    /// learn only at the end that an image is opaque.
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
    /// Whether both buffers have the same pixels, format and alpha mode. Padding is not compared. O(*w* × *h*).
    public static func == (a: PixelBuffer, b: PixelBuffer) -> Bool {
        guard a.size == b.size, a.format == b.format, a.alphaMode == b.alphaMode else { return false }
        return (0..<a.height).allSatisfy { y in
            let start = y * a.bytesPerRow
            return memcmp(a.storage.base + start, b.storage.base + start, a.usedBytesPerRow) == 0
        }
    }
}

/// The memory of pixel buffers: one allocation, aligned to 64 bytes.
///
/// `@unchecked` because of the raw pointer. No lock is needed, as in the arrays of the standard library. A buffer
/// writes bytes only before it shares the object, or after it has checked that it is the only owner and that no weak
/// reference was created.
private final class PixelStorage: @unchecked Sendable {
    static let alignment = 64
    /// The limit of one allocation, in bytes: 1 TiB. No machine has so much memory for one image, and some allocators,
    /// such as those of the sanitizers, end the process on a larger request.
    private static let maximumByteCount = 1 << 40

    let base: UnsafeMutableRawPointer
    let byteCount: Int
    /// Whether a weak reference was created. It does not become false again.
    let isWeaklyReferenced = Atomic(false)
    /// The block of the heap; nil if the memory is leased.
    private let block: UnsafeMutableRawPointer?
    let lease: (any PixelMemoryLease)?

    /// Allocates `byteCount` bytes that the caller must initialize. Returns nil when the limit is exceeded or the
    /// system cannot allocate them.
    init?(byteCount: Int) {
        if let lease = PixelMemory.lease(byteCount) {
            base = lease.base
            self.byteCount = byteCount
            block = nil
            self.lease = lease
            return
        }
        // The block is aligned here and not by the C library. For a large block, the library's aligned allocation
        // always takes fresh pages from the system, but a plain allocation reuses freed pages. Decoding into fresh
        // pages takes a fifth longer.
        guard byteCount <= Self.maximumByteCount, let block = malloc(byteCount + Self.alignment) else { return nil }
        self.block = block
        lease = nil
        base = block.alignedUp(toMultipleOf: Self.alignment)
        self.byteCount = byteCount
    }

    func copy() -> PixelStorage {
        guard let other = PixelStorage(byteCount: byteCount) else {
            preconditionFailure("cannot copy \(byteCount) bytes of pixels: out of memory")
        }
        other.base.copyMemory(from: base, byteCount: byteCount)
        return other
    }

    deinit { free(block) }
}
