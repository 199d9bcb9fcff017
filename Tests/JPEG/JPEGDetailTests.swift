import AlcedoCore
import AlcedoTesting
import Foundation
import TestSupport
import Testing

@testable import AlcedoJPEG

/// The details that a scaled transform loses: images that have them are decoded at full size.
@Suite struct JPEGDetailTests {
    private let decoder = JPEGDecoder()

    /// Returns options with which ``DrawnImage`` is reduced by `divisor`, for a filter or for a caller that wants the
    /// decoder's own reduction, which never looks for details.
    private static func options(_ divisor: Int, isFiltered: Bool = true) -> DecodingOptions {
        let width = isFiltered ? [2: 960, 4: 300, 8: 156][divisor] : DrawnImage.size.width / divisor
        var options = DecodingOptions(target: TargetSize(width: width ?? 0, height: width ?? 0))
        options.isFiltered = isFiltered
        return options
    }

    private static func file(
        _ drawing: DrawnImage, subsampling: JPEGSubsampling = .both, isProgressive: Bool = false
    ) throws -> Data {
        let image = try #require(drawing.image())
        return try JPEGEncoder(quality: 90, subsampling: subsampling, isProgressive: isProgressive).encode(image)
    }

    /// Returns the mean of each color in the rows from `first`.
    private static func mean(_ pixels: PixelBuffer, from first: Int = 0) -> [Double] {
        var sums = [0, 0, 0]
        for y in first..<pixels.height {
            pixels.row(y).withUnsafeBytes { row in
                for x in 0..<pixels.width {
                    for channel in 0..<3 { sums[channel] += Int(row[x * 4 + channel]) }
                }
            }
        }
        return sums.map { Double($0) / Double(pixels.width * (pixels.height - first)) }
    }

    private static func distance(_ first: [Double], _ second: [Double]) -> Double {
        zip(first, second).map { abs($0 - $1) }.max() ?? .infinity
    }

    @Test(arguments: [DrawnImage.text, .coloredText, .stripes], [(2, false), (4, false), (2, true), (4, true)])
    func `text and stripes are reduced from the full size`(drawing: DrawnImage, way: (Int, Bool)) throws {
        let file = try Self.file(drawing, isProgressive: way.1)

        let image = try decoder.decode(file, options: Self.options(way.0))
        let scaled = try decoder.decode(file, options: Self.options(way.0, isFiltered: false))

        try #require(image.size == scaled.size)
        try #require(image.reduction == scaled.reduction)
        #expect(image.pixels != scaled.pixels)
        let whole = Self.mean(try decoder.decode(file).pixels)
        #expect(Self.distance(Self.mean(image.pixels), whole) < 1.2)
        if drawing == .coloredText { #expect(Self.distance(Self.mean(scaled.pixels), whole) > 2) }
    }

    @Test func `colored text is reduced from the full size at an eighth`() throws {
        let file = try Self.file(.coloredText, isProgressive: true)

        let image = try decoder.decode(file, options: Self.options(8))
        let scaled = try decoder.decode(file, options: Self.options(8, isFiltered: false))

        try #require(image.size == PixelSize(width: 480, height: 40))
        try #require(scaled.size == image.size)
        let whole = Self.mean(try decoder.decode(file).pixels)
        #expect(Self.distance(Self.mean(image.pixels), whole) < 2)
        #expect(Self.distance(Self.mean(scaled.pixels), whole) > 4)
    }

    @Test(arguments: [DrawnImage.photo, .gradient], [false, true])
    func `a photo keeps the reduced size`(drawing: DrawnImage, isProgressive: Bool) throws {
        let file = try Self.file(drawing, isProgressive: isProgressive)
        for divisor in isProgressive ? [2, 4, 8] : [2, 4] {
            let image = try decoder.decode(file, options: Self.options(divisor))
            let scaled = try decoder.decode(file, options: Self.options(divisor, isFiltered: false))

            #expect(image.pixels == scaled.pixels, "1/\(divisor)")
        }
    }

    @Test func `an eighth of a sequential file is not filtered`() throws {
        #expect(try decoder.decode(Self.file(.stripes), options: Self.options(8)).size.width == 960)
    }

    @Test func `text below an even part is found, and the rows above it stay`() throws {
        let text = try #require(DrawnImage.text.image()).pixels
        let size = PixelSize(width: text.width, height: text.height * 3)
        let above = text.height * 2
        let pixels = PixelBuffer(size: size, format: .rgba8, alphaMode: .opaque) { memory, bytesPerRow in
            memory.initializeMemory(as: UInt8.self, repeating: 255)
            for y in 0..<text.height {
                let start = (above + y) * bytesPerRow
                text.row(y).withUnsafeBytes { row in
                    UnsafeMutableRawBufferPointer(rebasing: memory[start..<start + bytesPerRow])
                        .copyMemory(from: UnsafeRawBufferPointer(rebasing: row[..<(text.width * 4)]))
                }
            }
        }
        let file = try JPEGEncoder(quality: 90, subsampling: .both).encode(DecodedImage(pixels: try #require(pixels)))

        let image = try decoder.decode(file, options: Self.options(4)).pixels
        let scaled = try decoder.decode(file, options: Self.options(4, isFiltered: false)).pixels

        try #require(image.size == scaled.size)
        let first = above / 4
        let rowBytes = image.width * 4
        #expect(image.tightBytes.prefix(first * rowBytes) == scaled.tightBytes.prefix(first * rowBytes))
        let whole = Self.mean(try decoder.decode(file).pixels, from: above)
        #expect(Self.distance(Self.mean(image, from: first), whole) < 0.5)
        #expect(Self.distance(Self.mean(scaled, from: first), whole) > 0.5)
    }

    @Test(arguments: [nil, (1, 1), (2, 1), (1, 2), (4, 1)] as [(width: Int, height: Int)?])
    func `the last samples cover what is left of the image`(chroma: (width: Int, height: Int)?) throws {
        let file = JPEGMaker(chroma: chroma).file(width: 403, height: 101) { x, y in
            let level: UInt8 = x < 392 && y < 88 && (x / 2 + y / 2) % 2 == 0 ? 0 : 255
            return [level, level, level]
        }
        var options = DecodingOptions(target: TargetSize(width: 100, height: 100), pixelFormat: .gray8)
        options.isFiltered = true

        let image = try decoder.decode(file, options: options)

        try #require(image.size == PixelSize(width: 202, height: 51))
        let channels = image.pixels.format == .gray8 ? 1 : 4
        let bytes = image.pixels.tightBytes
        // A scaled transform would give black and white. The filter of the full size blends them a little.
        let sample = Int(bytes[(24 * 202 + 100) * channels])
        #expect(abs(sample - 45) <= 5 || abs(sample - 210) <= 5)
        // Right of the pattern and below it, everything is white.
        for y in 0..<51 {
            for x in (y < 49 ? 199 : 0)..<202 { #expect(bytes[(y * 202 + x) * channels] >= 254, "\(x), \(y)") }
        }
        #expect(image.reduction?.width == 201.5)
    }

    @Test(arguments: [DrawnImage.coloredText, .stripes], [false, true])
    func `rows and pieces give the same image`(drawing: DrawnImage, isProgressive: Bool) throws {
        let file = try Self.file(drawing, isProgressive: isProgressive)
        let options = Self.options(4)
        let image = try decoder.decode(file, options: options)
        let collector = PixelRowCollector()
        let pieces = decoder.makeIncrementalDecoder(options: options)

        try decoder.decodeRows(file, options: options, into: collector)
        for start in stride(from: 0, to: file.count, by: 20_000) {
            try pieces.append(file[start..<min(start + 20_000, file.count)])
            _ = try pieces.preview()
        }

        #expect(collector.image?.pixels == image.pixels)
        #expect(try pieces.finish().pixels == image.pixels)
    }

    @Test(arguments: [false, true])
    func `damage is that of the image at full size`(isProgressive: Bool) throws {
        let file = try Self.file(.text, isProgressive: isProgressive)
        let scans = try #require(JPEGEditor.data(in: file))
        let cut = file.prefix(scans.lowerBound + (file.count - scans.lowerBound) * 2 / 3)
        var options = Self.options(4)

        #expect(throws: ImageDecodingError.self) { try decoder.decode(cut, options: options) }
        options.allowsPartial = true
        var plain = Self.options(4, isFiltered: false)
        plain.allowsPartial = true
        let image = try decoder.decode(cut, options: options)
        let scaled = try decoder.decode(cut, options: plain)
        let harmless = try decoder.decode(file.dropLast(2), options: Self.options(4))

        #expect(image.damage?.kind == .missingPixels)
        #expect(image.damage?.kind == scaled.damage?.kind)
        #expect(image.partialError?.code == .truncated)
        let known = [image, scaled].map { image in
            (0..<image.size.height).filter { image.pixels.rgba(0, $0)[3] == 255 }.count
        }
        // The last rows at full size depend on chrominance of rows that are missing.
        #expect(known[0] > 0)
        #expect(abs(known[0] - known[1]) <= 2)
        #expect(harmless.damage?.kind == .harmless)
        #expect(harmless.pixels == (try decoder.decode(file, options: Self.options(4)).pixels))
    }

    @Test func `the pixels of both decodes count`() throws {
        let file = try Self.file(.text)
        let scaled = try decoder.decode(file, options: Self.options(4, isFiltered: false)).pixels
        var options = Self.options(4)

        options.limits.maximumTotalPixelCount = 2 * DrawnImage.size.pixelCount - 1
        #expect(try decoder.decode(file, options: options).pixels == scaled)
        options.limits.maximumTotalPixelCount += 1
        #expect(try decoder.decode(file, options: options).pixels != scaled)
    }

    @Test func `the rows at full size are in the budget`() throws {
        let file = try Self.file(.text)
        let held = try decoder.decodingByteCount(file, options: Self.options(4))
        let scaled = try decoder.decodingByteCount(file, options: Self.options(4, isFiltered: false))

        // Sixteen rows at a quarter of the size are held instead of all.
        let rows = 16 * DrawnImage.size.width / 4 * 4
        #expect(held == rows + 9 * DrawnImage.size.width * 4)
        #expect(scaled == DrawnImage.size.pixelCount / 16 * 4)
    }

    @Test(.spawnsProcesses) func `memory whose rows are reported in pieces has the same pixels`() async {
        await #expect(processExitsWith: .success) {
            // The details begin where 81 rows of 6,400 bytes, which fill half a MiB, end for the fourth time.
            let size = PixelSize(width: 3200, height: 1400)
            let drawn = PixelBuffer(size: size, format: .rgba8, alphaMode: .opaque) { memory, bytesPerRow in
                for y in 0..<size.height {
                    for x in 0..<size.width {
                        var noise = UInt32(x / 2) &* 2_654_435_761 ^ UInt32(y / 2) &* 40_503
                        noise = (noise ^ noise >> 13) &* 2_246_822_519
                        let level: UInt32 = y < 652 ? 120 + noise >> 16 & 31 : (1 - noise >> 20 & 1) * 255
                        let pixel = (0xFF00_0000 | level * 0x01_0101).littleEndian
                        memory.storeBytes(of: pixel, toByteOffset: y * bytesPerRow + 4 * x, as: UInt32.self)
                    }
                }
            }
            let image = DecodedImage(pixels: try #require(drawn))
            let file = try JPEGEncoder(quality: 90, subsampling: .both).encode(image)
            var options = DecodingOptions(target: TargetSize(width: 800, height: 800))
            options.isFiltered = true
            let collector = PixelRowCollector()
            try JPEGDecoder().decodeRows(file, options: options, into: collector)
            let reports = Watched(0)
            PixelMemory.setProvider { byteCount in ReportedMemory(byteCount) { reports.update { $0 += 1 } } }

            let pixels = try JPEGDecoder().decode(file, options: options).pixels

            #expect(pixels.width == 1600)
            #expect(reports.value > 4)
            #expect(pixels.tightBytes == collector.image?.pixels.tightBytes)
        }
    }
}

/// Memory of a pixel buffer that counts the reports of its rows.
///
/// `@unchecked` because of the pointer. No lock is needed, because only the buffer accesses the memory.
private final class ReportedMemory: PixelMemoryLease, @unchecked Sendable {
    let base: UnsafeMutableRawPointer
    private let onReport: @Sendable () -> Void

    init(_ byteCount: Int, onReport: @escaping @Sendable () -> Void) {
        base = .allocate(byteCount: byteCount, alignment: 64)
        self.onReport = onReport
    }

    deinit { base.deallocate() }

    func didFinishRows(_ count: Int, of pixels: PixelBuffer) { onReport() }
}
