import AlcedoCore
import AlcedoJXL
import Foundation
import FuzzSupport

/// The entry point that libFuzzer calls with every input.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzOneInput(_ bytes: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let input = UnsafeBufferPointer(start: bytes, count: count)
    DecoderFuzz(.jxl).run(input)
    // The reconstruction of a JPEG file reads boxes that decoding skips.
    let limits = DecodingLimits(maximumPixelCount: 1 << 18, maximumByteCount: 8 << 20)
    _ = try? JPEGRecompression.reconstruct(Data(input), limits: limits)
    _ = try? JPEGRecompression.compress(Data(input), effort: 1, limits: limits)
    return 0
}
