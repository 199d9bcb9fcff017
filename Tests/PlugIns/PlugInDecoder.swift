import AlcedoCore
import Foundation

extension ImageFormat {
    static let plugIn = ImageFormat(rawValue: "plug-in")
}

/// A decoder of gray images: the letters `PLUG`, the width, the height, and the samples.
struct PlugInDecoder: ImageDecoding {
    /// An image of 3 x 2 pixels.
    static let file = Data("PLUG".utf8) + [3, 2, 0, 50, 100, 150, 200, 250]

    func open(_ data: Data, limits: DecodingLimits) throws(ImageDecodingError) -> any ImageReading {
        try PlugInReader([UInt8](data), limits)
    }
}

/// A reader that passes on each row when it is decoded.
private final class PlugInReader: ImageReading {
    private static let headerLength = 6

    private let file: [UInt8]
    let header: ImageHeader

    init(_ file: [UInt8], _ limits: DecodingLimits) throws(ImageDecodingError) {
        guard file.count >= Self.headerLength else { throw ImageDecodingError(.truncated, "the header is truncated") }
        guard file.starts(with: "PLUG".utf8) else { throw ImageDecodingError(.corrupt, "another format") }
        header = ImageHeader(format: .plugIn, size: PixelSize(width: Int(file[4]), height: Int(file[5])))
        guard header.size.width > 0, header.size.height > 0 else {
            throw ImageDecodingError(.corrupt, "the image has no pixels")
        }
        try limits.check(header.size, format: .gray8)
        self.file = file
    }

    func info() throws(ImageDecodingError) -> ImageInfo {
        ImageInfo(format: header.format, size: header.size, colorModel: .gray)
    }

    func decode(_ options: DecodingOptions) throws(ImageDecodingError) -> DecodedImage {
        let rows = try checkedRows(options)
        let pixels = PixelBuffer(size: rows.size, format: rows.format, alphaMode: .opaque) { memory, bytesPerRow in
            for y in 0..<rows.size.height {
                let row = row(y, rows)
                UnsafeMutableRawBufferPointer(rebasing: memory[(y * bytesPerRow)...]).copyBytes(from: row)
            }
        }
        guard let pixels else { throw ImageDecodingError(.outOfMemory, "cannot allocate the pixels") }
        return DecodedImage(pixels: pixels, format: header.format)
    }

    func decodeRows(_ options: DecodingOptions, into consumer: any PixelRowConsumer) throws -> ImageDamage? {
        let rows = try checkedRows(options)
        try consumer.begin(rows)
        for y in 0..<rows.size.height {
            let row = row(y, rows)
            try consumer.consume(row.span.bytes)
        }
        try consumer.finish()
        return nil
    }

    private func rowHeader(_ options: DecodingOptions) -> PixelRowHeader {
        PixelRowHeader(
            size: header.size, format: options.pixelFormat == .gray8 ? .gray8 : .rgba8, alphaMode: .opaque)
    }

    private func checkedRows(_ options: DecodingOptions) throws(ImageDecodingError) -> PixelRowHeader {
        let rows = rowHeader(options)
        try options.limits.check(rows.size, format: rows.format)
        guard file.count >= Self.headerLength + rows.size.width * rows.size.height else {
            throw ImageDecodingError(.truncated, "the samples are truncated")
        }
        return rows
    }

    private func row(_ y: Int, _ rows: PixelRowHeader) -> [UInt8] {
        let start = Self.headerLength + y * rows.size.width
        let samples = file[start..<start + rows.size.width]
        return rows.format == .gray8 ? Array(samples) : samples.flatMap { [$0, $0, $0, 255] }
    }
}
