#if HEIF
    import AlcedoCore

    /// The crop and the orientation that several transforms result in.
    struct HEIFLayout {
        /// The visible part of the coded image.
        private(set) var crop: PixelRect
        /// The number of quarter turns counterclockwise.
        private var quarterTurns = 0
        /// Whether left and right are exchanged after the rotation.
        private var isMirrored = false

        /// Applies transforms in their order to an image of a size. Crops that exceed the image are ignored.
        init(_ transforms: [HEIFTransform], of size: PixelSize) {
            crop = PixelRect(x: 0, y: 0, width: size.width, height: size.height)
            for transform in transforms {
                switch transform {
                case .crop(let crop): cut(crop)
                // A mirrored image turns in the other direction.
                case .rotation(let turns): quarterTurns = (quarterTurns + (isMirrored ? 4 - turns : turns)) & 3
                case .mirroring(let axis):
                    // Exchanging top and bottom is a half turn, with left and right exchanged.
                    if axis == 0 { quarterTurns = (quarterTurns + 2) & 3 }
                    isMirrored.toggle()
                }
            }
        }

        /// The orientation of the cropped rows.
        var orientation: ImageOrientation {
            switch (quarterTurns, isMirrored) {
            case (0, false): .up
            case (1, false): .left
            case (2, false): .down
            case (3, false): .right
            case (0, true): .upMirrored
            case (1, true): .rightMirrored
            case (2, true): .downMirrored
            default: .leftMirrored
            }
        }

        /// Applies a crop to the image as it is turned so far.
        private mutating func cut(_ clap: HEIFCrop) {
            var size = quarterTurns % 2 == 1 ? crop.size.transposed : crop.size
            guard var area = clap.area(in: size) else { return }
            if isMirrored { area.x = size.width - area.x - area.size.width }
            for _ in 0..<quarterTurns {
                // Turning back exchanges the axes: the right side becomes the top.
                area = PixelRect(
                    x: size.height - area.y - area.size.height, y: area.x, width: area.size.height,
                    height: area.size.width)
                size = size.transposed
            }
            area.x += crop.x
            area.y += crop.y
            crop = area
        }
    }
#endif
