import AlcedoCore
import AlcedoTIFF
import Foundation
import FuzzSupport

/// The entry point that libFuzzer calls with every input.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzOneInput(_ bytes: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let input = UnsafeBufferPointer(start: bytes, count: count)
    DecoderFuzz(.tiff).run(input)
    let limits = DecodingLimits(maximumPixelCount: 1 << 18, maximumByteCount: 8 << 20, maximumFrameCount: 64)
    // The last page, if there are several.
    guard let pages = try? TIFFPages.count(in: Data(input), limits: limits), pages > 1 else { return 0 }
    _ = try? CodecRegistry([.tiff(page: pages - 1)]).decode(Data(input), options: DecodingOptions(limits: limits))
    return 0
}
