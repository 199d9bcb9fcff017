#if GTK
    import Alcedo

    /// What a cell asks of the grid that it is in, and tells it.
    @MainActor protocol GridCellOwner: AnyObject {
        /// The frames of animations, of all cells.
        var frames: FramePool { get }
        func item(at position: Int) -> GalleryItem?
        /// The request as it is for a cell.
        func thumbnail(_ request: ImageRequest) -> ImageRequest
        /// Whether the cell at a position is on screen, and not only near it.
        func isInSight(_ position: Int) -> Bool
        /// A load has ended, but not by being cancelled.
        ///
        /// - Parameter request: nil when there was nothing that could be loaded.
        func cellDidLoad(_ result: Result<ImageResponse, any Error>, of request: ImageRequest?)
        func cellWasClicked(at position: Int)
    }
#endif
