import CJPEG
import Foundation

/// Makes JPEG files with libjpeg, with sampling factors that the encoder of this package does not write.
struct JPEGMaker {
    /// The pixels for a sample of chrominance, or `nil` for a gray image.
    var chroma: (width: Int, height: Int)?
    var isProgressive = false

    /// Returns a file of quality 100 whose pixel at each position has the color that `color` returns.
    func file(width: Int, height: Int, color: (_ x: Int, _ y: Int) -> [UInt8]) -> Data {
        // libjpeg keeps the addresses.
        let errors = UnsafeMutablePointer<jpeg_error_mgr>.allocate(capacity: 1)
        let state = UnsafeMutablePointer<jpeg_compress_struct>.allocate(capacity: 1)
        let output = UnsafeMutablePointer<UnsafeMutablePointer<UInt8>?>.allocate(capacity: 1)
        let byteCount = UnsafeMutablePointer<UInt>.allocate(capacity: 1)
        output.initialize(to: nil)
        byteCount.initialize(to: 0)
        state.pointee.err = jpeg_std_error(errors)
        jpeg_CreateCompress(state, JPEG_LIB_VERSION, MemoryLayout<jpeg_compress_struct>.size)
        defer {
            jpeg_destroy_compress(state)
            free(output.pointee)
            byteCount.deallocate()
            output.deallocate()
            state.deallocate()
            errors.deallocate()
        }
        jpeg_mem_dest(state, output, byteCount)
        state.pointee.image_width = JDIMENSION(width)
        state.pointee.image_height = JDIMENSION(height)
        state.pointee.input_components = chroma == nil ? 1 : 3
        state.pointee.in_color_space = chroma == nil ? JCS_GRAYSCALE : JCS_RGB
        jpeg_set_defaults(state)
        jpeg_set_quality(state, 100, 1)
        if let chroma {
            state.pointee.comp_info[0].h_samp_factor = Int32(chroma.width)
            state.pointee.comp_info[0].v_samp_factor = Int32(chroma.height)
        }
        if isProgressive { jpeg_simple_progression(state) }
        jpeg_start_compress(state, 1)
        for y in 0..<height {
            var samples = (0..<width).flatMap { x in color(x, y).prefix(chroma == nil ? 1 : 3) }
            samples.withUnsafeMutableBufferPointer { samples in
                var row = samples.baseAddress
                _ = jpeg_write_scanlines(state, &row, 1)
            }
        }
        jpeg_finish_compress(state)
        return output.pointee.map { Data(bytes: $0, count: Int(byteCount.pointee)) } ?? Data()
    }
}
