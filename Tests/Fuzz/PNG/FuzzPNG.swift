import AlcedoPNG
import FuzzSupport

/// The entry point that libFuzzer calls with every input.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzOneInput(_ bytes: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let input = UnsafeBufferPointer(start: bytes, count: count)
    // Either way, as a bit of the input determines.
    if count % 2 == 0 {
        DecoderFuzz(.png).run(input)
    } else {
        ChunkRepair.repaired(input).withUnsafeBufferPointer { DecoderFuzz(.png).run($0) }
    }
    return 0
}
