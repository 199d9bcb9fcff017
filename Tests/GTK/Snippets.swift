#if GTK
    // The Swift code of AlcedoGTK's catalog, compiled. `ReadmeTests` compares the two.
    import AlcedoCore
    import AlcedoGTK
    import AlcedoViewBinding

    /// A picture for a box, or a cell, of one's own.
    @MainActor final class Portrait {
        let view: PictureView
        private let binder: ImageBinder

        init(loader: any ImageLoading, frames: FramePool) {
            let view = PictureView(contentMode: .fill, frames: frames)
            let binder = ImageBinder(view: view, loader: loader)
            view.onSizeChange = { [weak binder] in binder?.viewSizeChanged() }
            self.view = view
            self.binder = binder
        }

        /// The `GtkWidget` to put somewhere.
        var widget: OpaquePointer { view.widget }

        func show(_ request: ImageRequest?) { binder.bind(request) }
    }
#endif
