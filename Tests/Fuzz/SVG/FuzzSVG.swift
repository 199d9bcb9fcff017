import AlcedoCore
import AlcedoSVG
import Foundation
import FuzzSupport

/// The entry point that libFuzzer calls with every input.
///
/// A document that takes long to draw is left out: the time at which a drawing ends must not decide its result.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzOneInput(_ bytes: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let input = UnsafeBufferPointer(start: bytes, count: count)
    var options = DecodingOptions(allowsPartial: true)
    options.limits.maximumPixelCount = 1 << 18
    do throws(ImageDecodingError) {
        _ = try CodecRegistry.Entry.svg(timeLimit: .milliseconds(500)).decoder.decode(Data(input), options: options)
    } catch {
        if error.code == .exceedsLimit { return 0 }
    }
    DecoderFuzz(.svg(timeLimit: .seconds(60))).run(input)
    return 0
}
