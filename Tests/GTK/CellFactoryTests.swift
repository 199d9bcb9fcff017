#if GTK
    import AlcedoCore
    import AlcedoGTK
    import AlcedoViewBinding
    import CGTK
    import Testing

    @Suite(.enabled("needs a display") { @MainActor in TestWindow.isPossible }, .timeLimit(.minutes(3)))
    @MainActor struct CellFactoryTests {
        /// Counts the events of all cells of a list.
        @MainActor private final class Log {
            var made = 0
            var ended = 0
            var binds = 0
            var unbinds = 0
        }

        private final class Cell: RecycledCell {
            let widget: OpaquePointer
            private(set) var position: Int?
            private let log: Log

            init(_ log: Log) {
                self.log = log
                log.made += 1
                let label = OpaquePointer(gtk_label_new("cell")).unsafelyUnwrapped
                gtk_widget_set_size_request(UnsafeMutablePointer(label), 40, 40)
                g_object_ref_sink(UnsafeMutableRawPointer(label))
                widget = label
            }

            isolated deinit {
                log.ended += 1
                g_object_unref(UnsafeMutableRawPointer(widget))
            }

            func bind(to position: Int) {
                self.position = position
                log.binds += 1
            }

            func unbind() {
                position = nil
                log.unbinds += 1
            }
        }

        private struct List {
            var scroller: OpaquePointer
            var adjustment: UnsafeMutablePointer<GtkAdjustment>
            var model: OpaquePointer?
        }

        private func list(_ factory: OpaquePointer, count: Int, isGrid: Bool) throws -> List {
            var names = [UnsafePointer<CChar>?](repeating: nil, count: count + 1)
            let model = "item".withCString { name in
                for index in 0..<count { names[index] = name }
                return gtk_string_list_new(&names)
            }
            let selection = gtk_no_selection_new(model)
            g_object_ref(UnsafeMutableRawPointer(factory))
            let list = isGrid ? gtk_grid_view_new(selection, factory) : gtk_list_view_new(selection, factory)
            let scroller = try #require(OpaquePointer(gtk_scrolled_window_new()))
            gtk_scrolled_window_set_child(scroller, list)
            return List(
                scroller: scroller, adjustment: try #require(gtk_scrolled_window_get_vadjustment(scroller)),
                model: model)
        }

        @Test(arguments: [true, false]) func `thousands of items are shown by the same few cells`(isGrid: Bool) throws {
            let log = Log()
            let factory = CellFactory { Cell(log) }
            let list = try list(factory.factory, count: 5_000, isGrid: isGrid)
            let window = TestWindow(list.scroller)
            window.run { log.binds > 0 }
            window.drawFrame()

            for step in 1...60 {
                gtk_adjustment_set_value(list.adjustment, Double(step) * 150)
                window.drawFrame()
            }

            #expect(log.made < 600)
            #expect(log.binds > log.made)
            #expect(log.unbinds > 0)
            // GTK reports unbound items in the next main loop iteration.
            while g_main_context_iteration(nil, 0) != 0 {}
            let bound = factory.boundCells
            #expect(bound.count == log.binds - log.unbinds)
            #expect(bound.allSatisfy { $0.position == $0.cell.position })
            #expect(Set(bound.map(\.position)).count == bound.count)
        }

        @Test func `a cell whose item is assigned and removed at once does not load`() throws {
            let log = Log()
            let factory = CellFactory { Cell(log) }
            let list = try list(factory.factory, count: 5, isGrid: true)
            let selection = gtk_single_selection_new(list.model)
            g_object_ref(UnsafeMutableRawPointer(list.model))
            let grid = try #require(OpaquePointer(gtk_scrolled_window_get_child(list.scroller)))
            gtk_grid_view_set_model(grid, selection)
            let window = TestWindow(list.scroller)
            window.run { factory.boundCells.count == 5 }
            window.drawFrame()
            while g_main_context_iteration(nil, 0) != 0 {}
            let (binds, unbinds) = (log.binds, log.unbinds)
            var unbindsOfGTK = 0
            Signal(UnsafeMutableRawPointer(factory.factory), "unbind") { unbindsOfGTK += 1 }

            for position in [1, 2, 3, 2] as [guint] {
                gtk_single_selection_set_selected(selection, position)
                window.drawFrame()
            }

            // GTK 4.8 removes the items of a changing selection and adds them again. 4.18 keeps them.
            if gtk_get_minor_version() <= 8 { #expect(unbindsOfGTK > 0) }
            #expect(log.binds == binds)
            #expect(log.unbinds == unbinds)
            #expect(factory.boundCells.count == 5)
        }

        @Test func `cells are released with the list`() throws {
            let log = Log()
            let factory = CellFactory { Cell(log) }
            let list = try list(factory.factory, count: 100, isGrid: true)
            var window: TestWindow? = TestWindow(list.scroller)
            window?.run { log.binds > 0 }
            window?.drawFrame()

            window = nil

            #expect(log.binds == log.unbinds)
            #expect(log.ended == log.made)
            #expect(factory.cellCount == 0)
        }

        @Test func `a list retains its factory`() throws {
            let log = Log()
            var factory: CellFactory? = CellFactory { Cell(log) }
            let list = try list(try #require(factory).factory, count: 100, isGrid: true)
            factory = nil
            let window = TestWindow(list.scroller)

            window.run { log.binds > 0 }

            #expect(log.ended == 0)
        }

        @Test func `a prefetcher loads the next items and cancels the previous ones`() throws {
            let log = Log()
            let factory = CellFactory { Cell(log) }
            let list = try list(factory.factory, count: 5_000, isGrid: false)
            var requested: Set<String> = []
            var prefetcher: ScrollPrefetcher? = ScrollPrefetcher(
                adjustment: OpaquePointer(list.adjustment), ahead: 10, count: { 5_000 },
                request: { ImageRequest(source: .file("\($0)")) },
                start: { requests in
                    for request in requests {
                        let isNew = requested.insert("\(request.key)").inserted
                        #expect(isNew)
                    }
                },
                stop: { requests in
                    for request in requests {
                        let known = requested.remove("\(request.key)")
                        #expect(known != nil)
                    }
                })
            let window = TestWindow(list.scroller)
            window.run { prefetcher?.visiblePositions.isEmpty == false }
            window.drawFrame()

            for value in [400, 3_000, 90_000, 89_000, 88_900] {
                gtk_adjustment_set_value(list.adjustment, Double(value))
                window.drawFrame()
            }

            let visible = try #require(prefetcher?.visiblePositions)
            let ahead = visible.lowerBound - 10..<visible.lowerBound
            #expect(requested == Set(ahead.map { "file:\($0)" }))
            prefetcher = nil
            #expect(requested.isEmpty)
        }
    }
#endif
