import Alcedo
import Foundation

/// The entry point that libFuzzer calls with every input, which is an ICC profile.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzOneInput(_ bytes: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    ProfileFuzz(Data(UnsafeBufferPointer(start: bytes, count: count))).run()
    return 0
}

/// Converts pixels with one profile by all paths of the converter, and traps on forbidden behavior. The fuzzer and its
/// sanitizer find reads outside the profile, leaks, hangs and traps.
private struct ProfileFuzz {
    private static let width = 61
    private static let formats: [(format: PixelFormat, alphaMode: AlphaMode, hasInks: Bool)] = [
        (.gray8, .opaque, false), (.rgbx8, .opaque, false), (.rgba8, .straight, false), (.rgba8, .premultiplied, false),
        (.rgba16, .straight, false), (.rgba16, .premultiplied, false), (.rgba8, .opaque, true),
        (.rgba8, .straight, true), (.gray16, .opaque, false),
    ]
    private static let converter = LittleCMSColorConverter()
    /// An encoder that stores a profile without a check.
    private static let encoder = ImageEncoder.webp(lossless: true, method: 0)
    private static let pixel = PixelBuffer(size: PixelSize(width: 1, height: 1), format: .rgba8, alphaMode: .straight)

    private let profile: Data

    init(_ profile: Data) { self.profile = profile }

    func run() {
        // The color space depends on the input, so that one input does not take twice the time.
        let space = profile.count % 2 == 0 ? OutputColorSpace.sRGB : .displayP3
        for (format, alphaMode, hasInks) in Self.formats {
            var header = PixelRowHeader(
                size: PixelSize(width: Self.width, height: 1), format: format, alphaMode: alphaMode,
                colorProfile: profile)
            header.hasInks = hasInks
            convertRow(of: header, to: space)
        }
        convertFile()
    }

    private func convertRow(of header: PixelRowHeader, to space: OutputColorSpace) {
        guard let convert = try? Self.converter.conversion(of: header, to: space) else { return }
        // All samples have equal bytes in each pixel, so premultiplied color does not exceed alpha.
        let depth = header.format.bytesPerPixel
        let row = (0..<header.bytesPerRow).map { UInt8(truncatingIfNeeded: $0 / depth * 37) }
        let (first, second) = (converted(row, convert), converted(row, convert))
        require(first == second, "equal rows have different colors")
        guard !header.format.isGray else { return }
        for pixel in stride(from: 0, to: row.count, by: depth) {
            let alpha = pixel + depth * 3 / 4..<pixel + depth
            if header.hasInks {
                let isMissing = header.alphaMode != .opaque && row[pixel] == 0
                require(first[alpha.lowerBound] == (isMissing ? 0 : 255), "inks have a wrong alpha")
            } else {
                require(first[alpha] == row[alpha], "alpha has changed")
            }
        }
    }

    private func converted(_ row: [UInt8], _ convert: RowConversion) -> [UInt8] {
        // The row has its own allocation, so that the sanitizer finds bytes written after its end.
        let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: row.count, alignment: 16)
        defer { memory.deallocate() }
        memory.copyBytes(from: row)
        convert(memory)
        return Array(memory)
    }

    /// Converts a file with the profile, for which a metadata policy reads the tags of the profile.
    private func convertFile() {
        guard let pixels = Self.pixel,
            let file = try? Self.encoder.encode(DecodedImage(pixels: pixels, colorProfile: profile))
        else { return }
        let converter = ImageConverter(colorSpace: .embedded)
        guard let once = try? converter.convert(file, to: Self.encoder) else { fatalError("a good file is rejected") }
        guard let twice = try? converter.convert(once, to: Self.encoder) else { fatalError("a result is rejected") }
        require(once == twice, "the second removal of tags changes the file")
    }

    private func require(_ condition: Bool, _ message: @autoclosure () -> String) {
        guard !condition else { return }
        fatalError(message())
    }
}
