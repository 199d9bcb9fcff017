import CWebP
import Foundation

/// libwebp's own animation decoder, for comparison.
enum LibwebpPlayer {
    /// Returns the canvas of every frame as tight RGBA rows, or nil if libwebp refuses the file.
    static func frames(of data: Data) -> [[UInt8]]? {
        data.withUnsafeBytes { memory in
            var file = WebPData(bytes: memory.baseAddress?.assumingMemoryBound(to: UInt8.self), size: memory.count)
            var options = WebPAnimDecoderOptions()
            guard WebPAnimDecoderOptionsInit(&options) != 0 else { return nil }
            options.color_mode = MODE_RGBA
            guard let decoder = WebPAnimDecoderNew(&file, &options) else { return nil }
            defer { WebPAnimDecoderDelete(decoder) }
            var info = WebPAnimInfo()
            WebPAnimDecoderGetInfo(decoder, &info)
            var frames: [[UInt8]] = []
            while WebPAnimDecoderHasMoreFrames(decoder) != 0 {
                var pixels: UnsafeMutablePointer<UInt8>?
                var time = Int32(0)
                guard WebPAnimDecoderGetNext(decoder, &pixels, &time) != 0, let pixels else { return nil }
                let count = Int(info.canvas_width) * Int(info.canvas_height) * 4
                frames.append(Array(UnsafeBufferPointer(start: pixels, count: count)))
            }
            return frames
        }
    }

    /// Returns a still image decoded by the simple interface as tight RGBA rows.
    static func still(_ data: Data) -> [UInt8]? {
        data.withUnsafeBytes { memory in
            var (width, height) = (Int32(0), Int32(0))
            let bytes = memory.baseAddress?.assumingMemoryBound(to: UInt8.self)
            guard let pixels = WebPDecodeRGBA(bytes, memory.count, &width, &height) else { return nil }
            defer { WebPFree(pixels) }
            return Array(UnsafeBufferPointer(start: pixels, count: Int(width) * Int(height) * 4))
        }
    }
}
