#if GTK
    package import AlcedoCore

    /// Where a picture is drawn in a view, in device pixels.
    package struct PicturePlacement: Equatable {
        package var x: Int
        package var y: Int
        package var size: PixelSize

        /// The picture in the middle of the view; nil when one of them has no size.
        ///
        /// At whole pixels, so that a picture that was decoded for this view is drawn as it is, without being sampled
        /// anew. A picture that is smaller than the view is enlarged.
        package init?(of picture: PixelSize, in view: PixelSize, mode: ContentMode) {
            guard picture.isPositive, view.isPositive else { return nil }
            size = picture.scaled(to: view, mode: mode, enlarging: true)
            x = (view.width - size.width).floored(by: 2)
            y = (view.height - size.height).floored(by: 2)
        }
    }

    extension Int {
        /// The quotient rounded down, where `/` rounds to nought.
        fileprivate func floored(by divisor: Int) -> Int { (self - (self % divisor + divisor) % divisor) / divisor }
    }
#endif
