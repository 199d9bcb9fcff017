#if HEIF
    import AlcedoCore
    import AlcedoLibc
    import CHEIFShim

    /// The memory of the planes of some rows of a grid.
    final class Canvas {
        private(set) var planes = alcedo_heif_planes()
        private let memory: UnsafeMutableRawPointer

        /// Allocates planes of the width of an image.
        ///
        /// - Throws: `outOfMemory`.
        init(_ picture: HEIFPicture, rowCount: Int) throws(ImageDecodingError) {
            let sequence = picture.sequence
            let sampleSize = sequence.bitDepth > 8 ? 2 : 1
            let width = picture.size.width
            let isHalfWidth = sequence.chroma == .half || sequence.chroma == .halfWidth
            let colorStride = (isHalfWidth ? (width + 1) / 2 : width) * sampleSize
            let colorSize = colorStride * (sequence.chroma == .half ? (rowCount + 1) / 2 : rowCount)
            let lumaSize = width * sampleSize * rowCount
            // Zeros, because tiles that are missing or too small must not show other memory.
            guard let memory = calloc(lumaSize + 2 * colorSize, 1) else {
                throw ImageDecodingError.noMemory(for: PixelSize(width: width, height: rowCount))
            }
            self.memory = memory
            let start = memory.assumingMemoryBound(to: UInt8.self)
            planes.luma = start
            planes.luma_stride = width * sampleSize
            planes.width = UInt32(width)
            planes.height = UInt32(rowCount)
            planes.depth = UInt32(sequence.bitDepth)
            planes.chroma = sequence.chroma.layout
            guard sequence.chroma != .monochrome else { return }
            planes.blue = start + lumaSize
            planes.red = start + lumaSize + colorSize
            planes.color_stride = colorStride
        }

        deinit { free(memory) }

        /// Copies the last rows of other planes of the same kind to the first rows. Both numbers of rows must be even
        /// for color planes of half the height.
        func copyLastRows(_ count: Int, of other: Canvas) {
            let (from, to) = (other.planes, planes)
            guard let source = from.luma, let target = to.luma, count <= from.height else { return }
            memcpy(target, source + (Int(from.height) - count) * from.luma_stride, count * to.luma_stride)
            guard let blue = from.blue, let red = from.red, let newBlue = to.blue, let newRed = to.red else { return }
            let isHalfHeight = to.chroma == ALCEDO_HEIF_420
            let colorCount = isHalfHeight ? count / 2 : count
            let rows = isHalfHeight ? Int(from.height) / 2 : Int(from.height)
            memcpy(newBlue, blue + (rows - colorCount) * from.color_stride, colorCount * to.color_stride)
            memcpy(newRed, red + (rows - colorCount) * from.color_stride, colorCount * to.color_stride)
        }
    }
#endif
