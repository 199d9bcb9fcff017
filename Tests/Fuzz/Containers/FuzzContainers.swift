import AlcedoAVIF
import AlcedoBMP
import AlcedoCore
import AlcedoGIF
import AlcedoHEIF
import AlcedoJPEG
import AlcedoJXL
import AlcedoPNG
import AlcedoSVG
import AlcedoTIFF
import AlcedoWebP
import Foundation

/// The codecs of all formats.
private let codecs = CodecRegistry([
    .png, .jpeg, .gif, .webp, .avif, .heifInProcess, .jxl, .svg, .tiff, .bmp, .ico(png: .png),
])

/// The entry point that libFuzzer calls with every input.
///
/// Only the structure of the file is read: its boxes, chunks and markers, and the elements of an SVG, which are
/// sanitized. No pixels are decoded, so that many more inputs are tried in the same time.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzOneInput(_ bytes: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let data = Data(UnsafeBufferPointer(start: bytes, count: count))
    guard let decoder = codecs.entry(for: data)?.decoder else { return 0 }
    let limits = DecodingLimits(maximumPixelCount: 1 << 24)
    let info = try? decoder.inspect(data, limits: limits)
    if let info, !info.size.isPositive { fatalError("an image has \(info.size) pixels") }
    for target in [nil, TargetSize(width: 100, height: 100)] {
        let options = DecodingOptions(limits: limits, target: target)
        if let count = try? decoder.decodingByteCount(data, options: options), count < 0 {
            fatalError("a decode would hold \(count) bytes")
        }
    }
    return 0
}
