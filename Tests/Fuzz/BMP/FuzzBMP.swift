import AlcedoBMP
import AlcedoCore
import AlcedoPNG
import FuzzSupport

/// The entry point that libFuzzer calls with every input: a bitmap, or an icon if the input begins like one.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzOneInput(_ bytes: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let input = UnsafeBufferPointer(start: bytes, count: count)
    DecoderFuzz(input.starts(with: [0, 0, 1, 0]) ? .ico(png: .png) : .bmp).run(input)
    return 0
}
